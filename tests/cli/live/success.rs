//! A summary that lands, at once or at a later try.

use super::bench::{Bench, DIALECTS, Mock};
use super::texts::SUMMARY;
use super::wire::{HEAD, Then, serve};
use llmposter::Fixture;
use serde_json::json;

/// Checks that the summary stands in the log under the name of who made it.
fn lands(bench: &Bench, dialect: &str, url: &str, more: &[&str]) {
    let run = bench.compact(dialect, url, more);
    let report = Bench::report(&run);
    assert_eq!((run.code, &report["status"]), (0, &json!("compacted")), "{run:?}");
    let provider = if dialect == "openai" { "openai-compatible" } else { "anthropic" };
    let by = &report["summarizer"];
    assert_eq!(
        (&by["kind"], &by["provider"], &by["model"]),
        (&json!(dialect), &json!(provider), &json!("m-1"))
    );
    assert_eq!(by["calls"], json!(1));
    // The mock tells no usage in a streamed chat.
    assert_eq!(
        by["usage"]["outputTokens"].as_u64().is_some_and(|tokens| tokens > 0),
        dialect == "anthropic",
        "{by}"
    );
    let added = bench.added();
    let types: Vec<&str> = added.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["compaction/start", "compaction/summary", "user/message", "compaction/end"]);
    let summary = &added[1]["data"];
    assert_eq!((&summary["provider"], &summary["model"]), (&json!(provider), &json!("m-1")));
    assert!(summary["summary"][0]["text"].as_str().unwrap().contains("- The last change was tested."));
    let view = bench.view();
    assert_eq!(view["hostTokens"], report["hostTokens"]["after"]);
    assert_ne!(view["task"]["visible"], json!("lost"));
    bench.hides_the_key(&run);
}

#[test]
fn a_summary_lands() {
    for dialect in DIALECTS {
        let mock = Mock::new(vec![Fixture::new().respond_with_content(SUMMARY)]);
        lands(&Bench::new(), dialect, &mock.url(), &[]);
        assert_eq!(mock.requests(), 1);
    }
}

#[test]
fn a_server_that_fails_three_times_is_asked_a_fourth_time() {
    let failing = |state: &str, next: &str| {
        let headers = [("retry-after-ms", "1")];
        let fixture = Fixture::new().with_error_headers(500, "a moment, please", headers).unwrap();
        fixture.with_scenario("s", Some(state), Some(next))
    };
    for dialect in DIALECTS {
        let last = Fixture::new().respond_with_content(SUMMARY).with_scenario("s", Some("3"), None);
        let mock = Mock::new(vec![failing("", "1"), failing("1", "2"), failing("2", "3"), last]);
        lands(&Bench::new(), dialect, &mock.url(), &[]);
        assert_eq!(mock.requests(), 4);
    }
}

#[test]
fn what_the_model_read_and_wrote_is_told() {
    let said =
        json!({ "choices": [{ "index": 0, "delta": { "content": SUMMARY }, "finish_reason": "stop" }] });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 9_000, "completion_tokens": 120 } });
    let url = serve(format!("{HEAD}data: {said}\n\ndata: {usage}\n\ndata: [DONE]\n\n"), Then::Close);
    let run = Bench::new().compact("openai", &url, &[]);
    let expected = json!({ "inputTokens": 9_000, "outputTokens": 120 });
    assert_eq!(Bench::report(&run)["summarizer"]["usage"], expected, "{run:?}");
}
