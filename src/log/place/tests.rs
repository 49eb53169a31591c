use super::*;
use crate::json::MAX_SAFE_INTEGER;
use proptest::prelude::*;

fn segment(id: &str) -> String {
    encode_segment(&Text::from(id)).unwrap()
}

fn key(cwd: &str) -> String {
    project_key(&Text::from(cwd)).unwrap()
}

#[test]
fn only_canonical_names_are_logs() {
    let name = |text: &str| LogName::parse(text).map(|name| (name.generation, name.is_zstd));
    assert_eq!(name("session.jsonl"), Some((0, false)));
    assert_eq!(name("session.jsonl.zstd"), Some((0, true)));
    assert_eq!(name("session.v12.jsonl.zstd"), Some((12, true)));
    assert_eq!(name("session.v9007199254740991.jsonl"), Some((MAX_SAFE_INTEGER, false)));
    for odd in [
        "session.v0.jsonl",
        "session.v03.jsonl",
        "Session.jsonl",
        "session.V3.jsonl",
        "session.jsonl.tmp",
        "session.v+3.jsonl",
        "session.v.jsonl",
        "session.v3.jsonl.zstd.zstd",
        "session.v9007199254740992.jsonl",
        "session.v99999999999999999999999.jsonl",
        "a.jsonl",
        "",
    ] {
        assert_eq!(name(odd), None, "{odd}");
    }
}

#[test]
fn ids_are_escaped_unit_by_unit() {
    assert_eq!(segment("session-793a9123"), "session-793a9123");
    assert_eq!(segment("a/b~c d"), "a~002Fb~007Ec~0020d");
    assert_eq!(segment("."), "~002E");
    assert_eq!(segment(".."), "~002E~002E");
    assert_eq!(segment("..."), "...");
    assert_eq!(segment("会\0"), "~4F1A~0000");
    assert_eq!(segment("🦀"), "~D83E~DD80");
    assert_eq!(encode_segment(&Text::from_utf16(&[0xd83e])).unwrap(), "~D83E");
    assert_eq!(encode_segment(&Text::from("")), None);
}

#[test]
fn only_canonical_segments_name_an_id() {
    assert_eq!(decode_segment("~D83E~DD80").unwrap(), Text::from("🦀"));
    assert_eq!(decode_segment("~DD80~D83E").unwrap(), Text::from_utf16(&[0xdd80, 0xd83e]));
    assert_eq!(decode_segment("~002E~002E").unwrap(), Text::from(".."));
    for odd in
        ["", ".", "..", "~", "~002", "~002e", "~0041", "a b", "会", "~+123", "~00会", "~002E~002E~002E"]
    {
        assert_eq!(decode_segment(odd), None, "{odd}");
    }
}

#[test]
fn project_keys_are_those_of_dsh() {
    assert_eq!(key("/home/ada/my proj~1"), "--home-ada-my~0020proj~007E1--");
    assert_eq!(key(r"G:\work\客户端"), "--G-work-~5BA2~6237~7AEF--");
    assert_eq!(key(r"\\host\share$\x"), "--host-share~0024-x--");
    assert_eq!(key("/a//b/-c/"), "--a-b--c---");
    for root in ["/", "---", ":", r"\\", "/-/"] {
        assert_eq!(key(root), "--root--", "{root}");
    }
    assert_eq!(key("."), "--.--");
    assert_eq!(key("/home/.."), "--home-..--");
    assert_eq!(key("/🦀"), "--~D83E~DD80--");
    assert_eq!(key(&"x".repeat(300)), format!("--{}--", "x".repeat(251)));
    // The cut may fall inside an escape.
    assert_eq!(key(&"会".repeat(60)), format!("--{}~--", "~4F1A".repeat(50)));
    assert_eq!(project_key(&Text::from("")), None);
}

#[test]
fn project_keys_are_known_from_other_names() {
    for yes in ["_no-cwd", "--root--", "--home-ada-my~0020proj~007E1--", "--.--", "--a----"] {
        assert!(is_project_key(yes), "{yes}");
    }
    let long = format!("--{}--", "x".repeat(252));
    for no in ["", "--", "----", "-----", "---a--", "--a b--", "--会--", "-a-", "no-cwd", "project", &*long]
    {
        assert!(!is_project_key(no), "{no}");
    }
}

#[test]
fn an_address_is_two_names() {
    let address = |id: &str, cwd: Option<&str>| {
        Address::of(&Text::from(id), cwd.map(Text::from).as_ref()).map(|address| address.to_string())
    };
    assert_eq!(address("s 1", Some("/w")), Some("--w--/s~00201".into()));
    assert_eq!(address("s", None), Some("_no-cwd/s".into()));
    assert_eq!(address("", None), None);
}

fn odd_units() -> impl Strategy<Value = Vec<u16>> {
    let unit = prop_oneof![
        prop::sample::select("az09._-~/\\: \u{7f}é会".encode_utf16().collect::<Vec<_>>()),
        0xd7fe_u16..0xe002,
        any::<u16>()
    ];
    prop::collection::vec(unit, 1..40)
}

proptest! {
    #[test]
    fn segments_come_back_and_are_safe(units in odd_units()) {
        let id = Text::from_utf16(&units);
        let name = encode_segment(&id).unwrap();
        prop_assert_eq!(decode_segment(&name), Some(id));
        prop_assert!(name != "." && name != "..");
        prop_assert!(name.bytes().all(|byte| byte == b'~' || is_literal(byte)));
    }

    #[test]
    fn different_ids_have_different_names(left in odd_units(), right in odd_units()) {
        let name = |units: &[u16]| encode_segment(&Text::from_utf16(units));
        prop_assert_eq!(left == right, name(&left) == name(&right));
    }

    #[test]
    fn whatever_names_an_id_is_its_name(name in "[a~.0-9A-F]{0,12}") {
        if let Some(id) = decode_segment(&name) {
            prop_assert_eq!(encode_segment(&id), Some(name));
        }
    }

    #[test]
    fn every_project_key_is_known_as_one(units in odd_units()) {
        let key = project_key(&Text::from_utf16(&units)).unwrap();
        prop_assert!(is_project_key(&key), "{}", key);
    }
}
