use super::*;
use proptest::prelude::*;
use serde_json::value::RawValue;

fn is_json(text: &str) -> bool {
    Tape::default().scan(text)
}

fn is_json_for_serde(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

#[test]
fn values_are_told_from_other_texts() {
    for text in [
        "{}",
        "[]",
        " [ ] ",
        "\"\"",
        "0",
        "-0",
        "-1.5e+7",
        "1E5",
        "true",
        "false",
        "null",
        "{\"a\":{\"b\":[1,{}]}}",
        "\"\\ud83d\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00Ff\"",
        "\r\n\t 1 ",
        "[1,2 , 3]",
        "\"\u{7f}é会🦀\"",
    ] {
        assert!(is_json(text) && is_json_for_serde(text), "{text}");
    }
    for text in [
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{1:2}",
        "{a:1}",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "1e+",
        "+1",
        "tru",
        "nulll",
        "truefalse",
        "\"",
        "\"a",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\u12\"",
        "\"\n\"",
        "\"\u{1f}\"",
        "1 2",
        "[1}",
        "{\"a\":1]",
        "[]]",
        "{\"a\u{1}\":1}",
        "\u{feff}1",
        "\u{a0}1",
        "'a'",
        "NaN",
    ] {
        assert!(!is_json(text) && !is_json_for_serde(text), "{text:?}");
    }
}

#[test]
fn nesting_has_no_limit() {
    assert!(is_json(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))));
    assert!(!is_json(&"[".repeat(100_000)));
}

#[test]
fn the_first_end_is_found_wherever_it_stands() {
    for length in 0..80 {
        for end in ["\"", "\\", "\n", "\u{1f}"] {
            let text = format!("{}{end}\"x", "é".repeat(length));
            assert_eq!(plain(text.as_bytes(), 0), 2 * length);
        }
    }
    assert_eq!(plain(&[b'a'; 70], 3), 70);
    assert_eq!(plain(b"\x7f\x80\xff !#[]^\"", 0), 9);
}

proptest! {
    #[test]
    fn texts_that_are_nearly_json_are_judged_as_by_serde(
        pieces in proptest::collection::vec(0_usize..28, 0..24),
    ) {
        const PIECES: [&str; 28] = [
            "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"a\":", "\\", "\\n", "\\u00e9", "\\ud800", "0", "1", "-", ".",
            "e", "E+", "true", "null", " ", "\n", "\u{1}", "é", "[]", "{}", "\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"",
        ];
        let text: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
        prop_assert_eq!(is_json(&text), is_json_for_serde(&text), "{}", text);
    }

    #[test]
    fn a_changed_byte_is_judged_as_by_serde(at in 0_usize..1000, byte in 0_u8..128) {
        const TEXT: &str = r#"{"type":"user/message","seq":12,"time":-1.5e3,"data":{"content":[{"text":"a\n\u00e9"},[],{},true,null]}}"#;
        let mut bytes = TEXT.as_bytes().to_vec();
        let at = at % bytes.len();
        bytes[at] = byte;
        let text = String::from_utf8(bytes).unwrap();
        prop_assert_eq!(is_json(&text), is_json_for_serde(&text), "{}", text);
    }
}
