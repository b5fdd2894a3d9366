//! Any bytes, in any pieces, as an answer of OpenAI's Responses API.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| agentd_llm::fuzzing::responses(input));
