use agentd_domain::Capabilities;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn spec() -> ToolSpec {
    ToolSpec {
        name: "sample".to_owned(),
        description: String::new(),
        parameters: json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "maxLength": 8},
                "limit": {"type": "integer", "minimum": 1, "maximum": 500},
                "offset": {"type": "integer"},
                "ratio": {"type": "number"},
                "all": {"type": "boolean"},
                "paths": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
                "range": {
                    "type": "object",
                    "properties": {"from": {"type": "integer"}},
                    "required": ["from"],
                    "additionalProperties": false
                },
                "mode": {"type": "string", "enum": ["fast", "safe"]}
            },
            "additionalProperties": false
        }),
        capabilities: Capabilities::PURE,
    }
}

fn check(text: &str, expect: Value) {
    assert_eq!(prepare(&spec(), text), Ok(expect), "{text}");
}

fn check_refused(text: &str, problem: &str) {
    let refused = prepare(&spec(), text).expect_err(text);
    assert_eq!(refused.error_code, "TOOL_ARGUMENT_VALIDATION_FAILED");
    assert_eq!(
        refused.output,
        format!("The arguments of 'sample' do not fit:\n- {problem}"),
        "{text}"
    );
}

#[test]
fn ta_04_types_are_converted_by_schema_when_nothing_is_lost() {
    check(r#"{"path":"a"}"#, json!({"path": "a"}));
    check(r#""{\"path\":\"a\"}""#, json!({"path": "a"}));
    check(
        r#"{"limit":"200","all":"true","paths":"[\"a\",\"b\"]"}"#,
        json!({"limit": 200, "all": true, "paths": ["a", "b"]}),
    );
    check(r#"{"offset":10.0}"#, json!({"offset": 10}));
    check(r#"{"offset":"-3.0"}"#, json!({"offset": -3}));
    check(r#"{"ratio":"0.5"}"#, json!({"ratio": 0.5}));
    check(r#"{"ratio":2}"#, json!({"ratio": 2}));
    check(r#"{"range":"{\"from\":\"1\"}"}"#, json!({"range": {"from": 1}}));
    check(r#"{"limit":null,"path":"a"}"#, json!({"path": "a"}));
}

#[test]
fn ta_04_a_string_field_is_never_parsed_again() {
    for text in ["[1,2]", "007", "true", "null", "{}", "\\\"x\\\"", "1e3"] {
        let value = text.replace('\\', "");
        check(&format!(r#"{{"path":"{text}"}}"#), json!({"path": value}));
    }
    check(r#"{"paths":["[1]","2"]}"#, json!({"paths": ["[1]", "2"]}));
}

#[test]
fn ta_04_what_cannot_be_converted_names_field_and_types() {
    check_refused(r#"{"limit":"many"}"#, r#"limit: expected integer, received string "many""#);
    check_refused(r#"{"limit":"007"}"#, r#"limit: expected integer, received string "007""#);
    check_refused(r#"{"limit":1.5}"#, "limit: expected integer, received number 1.5");
    check_refused(
        r#"{"offset":123456789012345678901234}"#,
        "offset: expected integer, received number 1.2345678901234567e+23",
    );
    check_refused(r#"{"all":"yes"}"#, r#"all: expected boolean, received string "yes""#);
    check_refused(r#"{"path":5}"#, "path: expected string, received integer 5");
    check_refused(r#"{"paths":"a"}"#, r#"paths: expected array, received string "a""#);
    check_refused(r#"{"paths":["a",1]}"#, "paths[1]: expected string, received integer 1");
    check_refused(r#"{"range":{}}"#, "range.from: expected integer, received nothing");
    check_refused("[1]", "expected an object, received array [1]");
    check_refused("7", "expected an object, received integer 7");
}

#[test]
fn bounds_are_checked() {
    check_refused(r#"{"limit":0}"#, "limit: expected at least 1, received 0");
    check_refused(r#"{"limit":"501"}"#, "limit: expected at most 500, received 501");
    check_refused(
        r#"{"path":"世世世世世世世世世"}"#,
        "path: expected at most 8 characters, received 9",
    );
    check_refused(r#"{"paths":["a","b","c","d"]}"#, "paths: expected at most 3 items, received 4");
    check_refused(
        r#"{"mode":"slow"}"#,
        r#"mode: expected one of "fast", "safe", received string "slow""#,
    );
    check_refused(r#"{"limits":1}"#, "limits: there is no such field; did you mean 'limit'?");
    check_refused(r#"{"colour":1}"#, "colour: there is no such field");
}

#[test]
fn no_arguments_are_an_empty_object() {
    for text in ["", "  \n", "null", "{}", r#""""#, r#""{}""#] {
        check(text, json!({}));
    }
}

#[test]
fn a_key_that_comes_twice_is_refused() {
    let refused = prepare(&spec(), r#"{"path":"a","path":"b"}"#).expect_err("twice");
    assert!(refused.output.contains("the key 'path' comes twice"), "{}", refused.output);
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        let inner = depth - 1;
        format!("{{\"colour\":{}{}}}", "[".repeat(inner), "]".repeat(inner))
    };
    let message = |depth| prepare(&spec(), &nested(depth)).expect_err("refused").output;
    assert!(message(20).contains("no such field"), "{}", message(20));
    assert!(message(21).contains("nested deeper than 20"), "{}", message(21));
    assert!(message(100_000).contains("nested deeper than 20"));
}

#[test]
fn numbers_that_json_does_not_have_are_refused() {
    for text in [r#"{"ratio":NaN}"#, r#"{"ratio":Infinity}"#, r#"{"ratio":1e999}"#] {
        let refused = prepare(&spec(), text).expect_err(text);
        assert!(refused.output.contains("not valid JSON"), "{}", refused.output);
    }
}

#[test]
fn w2_1_arguments_of_many_thousand_characters_are_accepted() {
    let mut open = spec();
    open.parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let long = "x".repeat(500_000);
    assert_eq!(prepare(&open, &json!({"path": long}).to_string()), Ok(json!({"path": long})));
    let refused = prepare(&open, &json!({"path": "x".repeat(MAX_TEXT)}).to_string());
    assert!(refused.expect_err("too long").output.contains("received 1048587 bytes"));
}

#[test]
fn en_02_half_a_character_in_arguments_spoils_only_its_place() {
    check(r#"{"path":"a\udf06b"}"#, json!({"path": "a\u{fffd}b"}));
    check(r#""{\"path\":\"a\\udf06b\"}""#, json!({"path": "a\u{fffd}b"}));
}

#[test]
fn a_long_wrong_value_is_shortened() {
    let text = json!({"limit": "世".repeat(5_000)}).to_string();
    let refused = prepare(&spec(), &text).expect_err("wrong type");
    assert!(refused.output.len() < 500, "{}", refused.output.len());
}

proptest! {
    #[test]
    fn any_text_is_answered_without_a_panic(text in r#"[\{\}\[\]",:\\ud8c0fn12ae. 世😀]{0,60}"#) {
        let _answer = prepare(&spec(), &text);
    }

    #[test]
    fn integers_survive_being_sent_as_strings(number: i64) {
        check(&format!(r#"{{"offset":"{number}"}}"#), json!({"offset": number}));
    }

    #[test]
    fn integers_survive_being_sent_as_floats(number in -99_999_999_999_999_i64..=99_999_999_999_999) {
        check(&format!(r#"{{"offset":{number}.0}}"#), json!({"offset": number}));
        check(&format!(r#"{{"offset":"{number}.0"}}"#), json!({"offset": number}));
    }

    #[test]
    fn a_float_becomes_the_same_integer_or_none(number: i64, zeros in "0{1,20}") {
        let text = format!(r#"{{"offset":{number}.{zeros}}}"#);
        if let Ok(converted) = prepare(&spec(), &text) {
            prop_assert_eq!(converted, json!({"offset": number}));
        }
    }
}
