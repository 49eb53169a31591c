//! Servers that answer, and give no summary.

use super::bench::{Bench, DIALECTS, KEY, Mock};
use llmposter::{FailureConfig, Fixture, ToolCall};
use serde_json::json;

/// Both dialects fail with these words after so many requests; the messages.
fn fails(fixture: impl Fn() -> Fixture, more: &[&str], expected: &str, requests: usize) -> Vec<String> {
    let fails = |dialect: &&str| {
        let mock = Mock::new(vec![fixture()]);
        let message = Bench::new().fails(dialect, &mock.url(), more, expected);
        assert_eq!(mock.requests(), requests, "{dialect}");
        message
    };
    DIALECTS.iter().map(fails).collect()
}

#[test]
fn a_refused_request_fails_at_once_with_the_servers_words() {
    fails(
        || Fixture::new().with_error(400, "the region is too long"),
        &[],
        "status 400: the region is too long",
        1,
    );
}

#[test]
fn a_wrong_key_is_told_without_the_key() {
    let messages = fails(
        || Fixture::new().with_error(401, &format!("bad key {KEY}!")),
        &[],
        "status 401: bad key [key]!",
        1,
    );
    assert_eq!(messages.len(), 2);
}

#[test]
fn a_busy_server_is_left_alone_for_as_long_as_it_asks() {
    let busy = |wait: &'static str| {
        move || Fixture::new().with_error_headers(429, "slow down", [("retry-after", wait)]).unwrap()
    };
    fails(busy("0"), &["--retries", "2"], "status 429: slow down (asked 3 times)", 3);
    fails(busy("3600"), &[], "asking again in 3600.0 s would pass --timeout", 1);
}

#[test]
fn a_broken_server_is_given_up_in_the_end() {
    let broken = || Fixture::new().with_error_headers(500, "oh no", [("retry-after-ms", "1")]).unwrap();
    fails(broken, &[], "status 500: oh no (asked 4 times)", 4);
    fails(broken, &["--retries", "0"], "status 500: oh no", 1);
}

#[test]
fn a_cut_stream_is_no_summary() {
    let cut = || {
        let failure = FailureConfig { truncate_after_frames: Some(3), ..FailureConfig::default() };
        let fixture =
            Fixture::new().respond_with_content("a beginning of a summary").with_streaming(None, Some(5));
        fixture.with_failure(failure)
    };
    fails(cut, &["--retries", "1"], "the stream ended before its end mark (asked 2 times)", 2);
}

#[test]
fn a_stream_that_is_no_json_is_no_summary() {
    let broken = || {
        let failure = FailureConfig { corrupt_body: Some(true), ..FailureConfig::default() };
        Fixture::new().respond_with_content("a summary").with_failure(failure)
    };
    fails(broken, &["--retries", "0"], "no JSON", 1);
}

#[test]
fn an_empty_text_is_no_summary() {
    fails(|| Fixture::new().respond_with_content(" \n "), &[], "empty text", 1);
}

#[test]
fn a_tool_call_is_no_summary() {
    let call = || {
        let calls = vec![ToolCall { name: "read".into(), arguments: json!({ "path": "a" }) }];
        Fixture::new().respond_with_tool_calls(calls)
    };
    fails(call, &[], "called a tool", 1);
}

/// The mock takes any reason for stopping; its own refusals it does not stream.
fn stops_for(reasons: [&str; 2], more: &[&str], expected: &str) {
    for (dialect, reason) in DIALECTS.into_iter().zip(reasons) {
        let mock =
            Mock::new(vec![Fixture::new().respond_with_content("half a summ").with_stop_reason(reason)]);
        Bench::new().fails(dialect, &mock.url(), more, expected);
        assert_eq!(mock.requests(), 1);
    }
}

#[test]
fn a_refusal_is_no_summary() {
    stops_for(["content_filter", "refusal"], &[], "refused to answer");
}

#[test]
fn a_text_that_was_cut_off_is_no_summary() {
    stops_for(["length", "max_tokens"], &["--max-tokens", "3"], "cut off at --max-tokens");
}
