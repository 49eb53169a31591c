//! What formats differ in: the same events told right or wrong by the log's own version.

use super::testing::{check_events_of, codes, event, marked};

fn turn() -> Vec<String> {
    vec![event(0, "turn/start", r#"{"turn":1}"#), event(1, "step/start", r#"{"turn":1,"step":1}"#)]
}

fn append(seq: u64, event_type: &str, data: &str) -> String {
    marked(seq, event_type, data, "\"append\"", "")
}

fn replace(seq: u64, event_type: &str, data: &str, from: u64, to: u64) -> String {
    let op = format!(r#"{{"op":"replace","startSeq":{from},"endSeq":{to}}}"#);
    let sources: Vec<u64> = if from == to { vec![from] } else { vec![from, to] };
    marked(seq, event_type, data, &op, &format!(",\"sourceEventSeqs\":{sources:?}"))
}

fn user(kind: &str) -> String {
    format!(r#"{{"id":"u","role":"user","content":[],"source":{{"kind":"{kind}","plugin":"x"}}}}"#)
}

fn system(source: &str) -> String {
    format!(
        r#"{{"turn":1,"step":1,"message":{{"id":"y","role":"system","content":[],"source":{{{source}}}}}}}"#
    )
}

const PLUGIN: &str = r#""kind":"plugin","plugin":"@deepseek-ai/dsh-system-prompt""#;
const PROMPT: &str = r#""kind":"system-prompt""#;

fn log(mut start: Vec<String>, more: &[String]) -> Vec<String> {
    start.extend_from_slice(more);
    start
}

/// The open turn's calls need no result here; notes of pairing are about other things.
fn errors(version: u64, events: &[String]) -> Vec<&'static str> {
    let of_interest = |code: &&str| !["call-without-result", "stream-shape"].contains(code);
    codes(&check_events_of(version, events)).into_iter().filter(of_interest).collect()
}

/// What is expected of formats 0 to 4, in their order.
fn each<'a>(expected: [&'a [&'a str]; 5]) -> impl Iterator<Item = (u64, &'a [&'a str])> {
    (0..).zip(expected)
}

#[test]
fn the_system_prompt_is_a_node_from_format_3_on() {
    for (version, source) in [(3, PLUGIN), (4, PROMPT)] {
        let prompt = system(source);
        let head =
            log(turn(), &[append(2, "system/message", &prompt), append(3, "user/message", &user("user"))]);
        assert_eq!(errors(version, &head), [""; 0], "format {version}");
        let again = replace(4, "system/message", &prompt, 2, 2);
        assert_eq!(errors(version, &log(head.clone(), &[again])), [""; 0], "format {version}");
        for (event_type, data, to) in [
            ("user/message", user("user"), 2),
            ("user/message", user("user"), 3),
            ("system/message", prompt, 3),
        ] {
            let odd = replace(4, event_type, &data, 2, to);
            let odd = odd.replace("[2]", if to == 2 { "[2]" } else { "[2,3]" });
            let found = errors(version, &log(head.clone(), &[odd]));
            assert_eq!(found, ["protected-system-head"], "format {version}: {event_type} over 2..{to}");
        }
    }
    let head = log(turn(), &[append(2, "system/message", &system(PLUGIN))]);
    assert_eq!(errors(2, &head), ["unknown-required-event"]);
    assert_eq!(errors(4, &head), ["message-shape"], "format 4 has no plugin sources");
    for odd in [r#""kind":"plugin""#, r#""kind":"""#] {
        assert_eq!(errors(3, &log(turn(), &[append(2, "system/message", &system(odd))])), ["message-shape"]);
    }
    let extra = system(PLUGIN).replace("\"step\":1,", "\"step\":1,\"meta\":1,");
    assert_eq!(errors(3, &log(turn(), &[append(2, "system/message", &extra)])), ["message-shape"]);
    let no_step = system(PLUGIN).replace("\"step\":1", "\"step\":0");
    assert_eq!(errors(3, &log(turn(), &[append(2, "system/message", &no_step)])), ["message-shape"]);
}

#[test]
fn what_a_request_header_may_hold() {
    let header = |more: &str| {
        let data =
            format!(r#"{{"header":{{"config":{{"provider":"p","model":"m"}}{more}}},"reason":"initial"}}"#);
        log(turn(), &[event(2, "request/header", &data)])
    };
    for more in [r#","system":"be terse""#, r#","tools":[]"#, r#","adapterDefaults":{}"#] {
        for (version, expected) in each([&[], &[], &[], &["payload-shape"], &["payload-shape"]]) {
            assert_eq!(errors(version, &header(more)), expected, "format {version}: {more}");
        }
    }
}

fn call() -> String {
    let data = r#"{"turn":1,"step":1,"message":{"id":"a","role":"assistant","content":[{"type":"tool-call","id":"c","name":"sh","arguments":"{}"}],"source":{"kind":"model","provider":"p","model":"m"}},"stream":[]}"#;
    append(2, "assistant/message", data)
}

fn started() -> String {
    event(3, "tool/call", r#"{"turn":1,"step":1,"callId":"c","name":"sh","arguments":"{}"}"#)
}

const WRAPPED: &str = r#"{"turn":1,"step":1,"message":{"id":"r","role":"user","content":[{"type":"tool-result","toolCallId":"c","content":[]}],"source":{"kind":"tool","callId":"c"}}}"#;
const FLAT: &str = r#"{"turn":1,"step":1,"message":{"id":"r","role":"tool","toolCallId":"c","content":[],"source":{"kind":"tool","callId":"c"}}}"#;

#[test]
fn tools_answer_in_a_block_and_from_format_4_on_in_a_message() {
    let answered = |data: &str| log(turn(), &[call(), started(), append(4, "tool/result", data)]);
    for (version, right, wrong) in [(2, WRAPPED, FLAT), (3, WRAPPED, FLAT), (4, FLAT, WRAPPED)] {
        assert_eq!(errors(version, &answered(right)), [""; 0], "format {version}");
        assert!(errors(version, &answered(wrong)).contains(&"message-shape"), "format {version}");
    }
    for (from, to) in [
        ("\"toolCallId\":\"c\"", "\"toolCallId\":\"d\""),
        ("\"toolCallId\":\"c\",", ""),
        ("\"content\":[]", "\"isError\":1,\"content\":[]"),
        ("\"content\":[]", r#""content":[{"type":"tool-result","toolCallId":"c","content":[]}]"#),
    ] {
        assert!(errors(4, &answered(&FLAT.replace(from, to))).contains(&"message-shape"), "{to}");
    }
}

#[test]
fn error_details_belong_to_an_error() {
    let answered = |data: &str| log(turn(), &[call(), started(), append(4, "tool/result", data)]);
    let with_error =
        |data: &str| data.replace(r#""step":1,"#, r#""step":1,"error":{"name":"E","code":"X"},"#);
    assert_eq!(errors(2, &answered(&with_error(WRAPPED))), [""; 0]);
    for (version, data) in [(3, WRAPPED), (4, FLAT)] {
        assert!(errors(version, &answered(&with_error(data))).contains(&"message-shape"), "format {version}");
        let failed = with_error(data).replace(r#""content":[]"#, r#""isError":true,"content":[]"#);
        assert_eq!(errors(version, &answered(&failed)), [""; 0], "format {version}");
    }
}

#[test]
fn a_rewritten_result_of_format_4_keeps_all_but_its_content() {
    let rewritten = |data: &str| {
        log(
            turn(),
            &[call(), started(), append(4, "tool/result", FLAT), replace(5, "tool/result", data, 4, 4)],
        )
    };
    let shorter = FLAT.replace(r#""content":[]"#, r#""content":[{"type":"text","text":"…"}]"#);
    assert_eq!(errors(4, &rewritten(&shorter)), [""; 0]);
    for (from, to) in
        [("\"id\":\"r\"", "\"id\":\"x\""), (r#""content":[]"#, r#""isError":false,"content":[]"#)]
    {
        assert_eq!(errors(4, &rewritten(&FLAT.replace(from, to))), ["tool-result-rewrite"], "{to}");
    }
}

#[test]
fn sources_belong_to_the_formats_that_have_them() {
    let prompt = log(turn(), &[append(2, "user/message", &user("plugin"))]);
    for (version, expected) in each([&[], &[], &[], &[], &["message-shape"]]) {
        assert_eq!(errors(version, &prompt), expected, "format {version}");
    }
    let cites = call().replace("\"surfaceOp\"", "\"sourceEventSeqs\":[0],\"surfaceOp\"");
    let refused: &[&str] = &["surface-sources-invalid"];
    for (version, expected) in each([&[], &[], refused, refused, refused]) {
        assert_eq!(errors(version, &log(turn(), std::slice::from_ref(&cites))), expected, "format {version}");
    }
}

#[test]
fn streamed_deltas_stand_where_the_format_has_them() {
    let row = r#"{"type":"text-chunks","seq0":2,"time0":1,"data":{"turn":1,"step":1,"index":0,"dt":[],"texts":["a"]}}"#;
    let row = log(turn(), &[row.to_owned()]);
    let chunk = r#"{"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":"a"}}"#;
    let chunk = log(turn(), &[event(2, "assistant/chunk", chunk)]);
    let attempt = log(turn(), &[event(2, "assistant/attempt", r#"{"turn":1,"step":1,"stream":[]}"#)]);
    let (unknown, malformed): (&[&str], &[&str]) = (&["unknown-required-event"], &["invalid-envelope"]);
    for (version, expected) in each([&[], &[], malformed, malformed, malformed]) {
        assert_eq!(errors(version, &row), expected, "format {version}");
    }
    for (version, expected) in each([&[], &[], unknown, unknown, unknown]) {
        assert_eq!(errors(version, &chunk), expected, "format {version}");
    }
    for (version, expected) in each([unknown, unknown, &[], &[], &[]]) {
        assert_eq!(errors(version, &attempt), expected, "format {version}");
    }
}

#[test]
fn ignorable_events_may_carry_markers_from_format_1_on() {
    let odd = event(2, "acme/x", "null").replace("\"data\"", "\"ignorable\":true,\"surfaceOp\":7,\"data\"");
    let taken: &[&str] = &["unknown-ignorable-event"];
    for (version, expected) in each([&["surface-marker-forbidden"], taken, taken, taken, taken]) {
        assert_eq!(errors(version, &log(turn(), std::slice::from_ref(&odd))), expected, "format {version}");
    }
}

#[test]
fn a_developer_message_says_where_the_tools_it_adds_stand() {
    let header = |tools: &str| {
        let data = format!(
            r#"{{"header":{{"config":{{"provider":"p","model":"m"}},"tools":[{tools}]}},"reason":"initial"}}"#
        );
        event(2, "request/header", &data)
    };
    let tool = |name: &str| format!(r#"{{"name":"{name}","description":"d","parameters":{{}}}}"#);
    let added = |blocks: &str, more: &str| {
        let data = format!(
            r#"{{"turn":1,"step":1,"message":{{"id":"d","role":"developer","content":[{blocks}],"source":{{"kind":"tool-registry"}}}}{more}}}"#
        );
        append(3, "developer/message", &data)
    };
    let told = |tools: &str, blocks: &str, more: &str| {
        errors(4, &log(turn(), &[header(tools), added(blocks, more)]))
    };
    let grep = r#"{"type":"tool-addition","toolName":"grep"}"#;
    let removal = r#"{"type":"tool-removal","toolName":"grep"}"#;
    assert_eq!(told(&tool("grep"), grep, ",\"headerSeq\":2"), [""; 0]);
    assert_eq!(told(&tool("sh"), removal, ""), [""; 0]);
    let twice = format!("{},{}", tool("grep"), tool("grep"));
    let bare = r#"{"name":"grep","parameters":{}}"#.to_owned();
    for (tools, blocks, more) in [
        (tool("grep"), grep, ""),
        (tool("grep"), grep, ",\"headerSeq\":1"),
        (tool("grep"), grep, ",\"headerSeq\":3"),
        (tool("grep"), grep, ",\"headerSeq\":-1"),
        (tool("sh"), grep, ",\"headerSeq\":2"),
        (twice, grep, ",\"headerSeq\":2"),
        (bare, grep, ",\"headerSeq\":2"),
        (tool("grep"), removal, ",\"headerSeq\":2"),
        (tool("grep"), removal, ",\"meta\":1"),
    ] {
        assert_eq!(told(&tools, blocks, more), ["message-shape"], "{tools} {blocks} {more}");
    }
    assert_eq!(
        errors(3, &log(turn(), &[header(&tool("sh")), added(removal, "")])),
        ["unknown-required-event"]
    );
}

#[test]
fn images_are_offloaded_once_and_where_they_are() {
    let image = r#"{"type":"image","attachment":{"attachmentId":"i"}}"#;
    let prompt =
        |content: &str| append(2, "user/message", &user("user").replace("[]", &format!("[{content}]")));
    let two = prompt(&format!(r#"{image},{{"type":"text","text":"image"}},{image}"#));
    let offload =
        |seq: u64, targets: &str| event(seq, "image/offload", &format!(r#"{{"targets":{targets}}}"#));
    let sound = log(
        turn(),
        &[
            two.clone(),
            offload(3, r#"[{"seq":2,"imageIndexes":[1]}]"#),
            offload(4, r#"[{"seq":2,"imageIndexes":[0]}]"#),
        ],
    );
    for version in [3, 4] {
        assert_eq!(errors(version, &sound), [""; 0]);
        for targets in [
            "[]",
            r#"[{"seq":2,"imageIndexes":[]}]"#,
            r#"[{"seq":2,"imageIndexes":[1,0]}]"#,
            r#"[{"seq":2,"imageIndexes":[2]}]"#,
            r#"[{"seq":2,"imageIndexes":[-0]}]"#,
            r#"[{"seq":1,"imageIndexes":[0]}]"#,
            r#"[{"seq":2,"imageIndexes":[0]},{"seq":2,"imageIndexes":[1]}]"#,
            r#"[{"seq":2,"imageIndexes":[0],"more":1}]"#,
        ] {
            let odd = log(turn(), &[two.clone(), offload(3, targets)]);
            assert_eq!(errors(version, &odd), ["payload-shape"], "format {version}: {targets}");
        }
        let again = log(sound.clone(), &[offload(5, r#"[{"seq":2,"imageIndexes":[1]}]"#)]);
        assert_eq!(errors(version, &again), ["payload-shape"]);
    }
    assert_eq!(errors(2, &log(turn(), &[two, offload(3, "[]")])), ["unknown-required-event"]);
}

#[test]
fn readers_of_format_3_look_into_the_blocks_of_a_prompt() {
    let prompt = |source| {
        let blocks = r#""content":[{"type":"image"}]"#;
        append(2, "system/message", &system(source).replace(r#""content":[]"#, blocks))
    };
    let behind = [prompt(PLUGIN), event(3, "plan/mode", r#"{"active":true}"#)];
    assert_eq!(errors(4, &log(turn(), &[prompt(PROMPT)])), [""; 0]);
    assert_eq!(errors(3, &log(turn(), &behind)), ["payload-members"]);
    // They do so even where they drop what stands behind damage.
    let mut damaged = turn();
    damaged.push("{".to_owned());
    damaged.extend(behind);
    let checked = check_events_of(3, &damaged);
    assert_eq!(codes(&checked), ["unparsable-line", "payload-members"]);
    assert!(
        checked.findings[0].help.ends_with("dsh refuses the log, for more than this"),
        "{:?}",
        checked.findings
    );
}
