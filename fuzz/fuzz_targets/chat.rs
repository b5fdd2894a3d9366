//! Any bytes, in any pieces, as an answer of Chat Completions.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| agentd_llm::fuzzing::chat(input));
