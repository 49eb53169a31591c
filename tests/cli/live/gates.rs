//! Whole answers that are no summary of the region. The model is told what is wrong, and asked once more.

use super::bench::{Bench, DIALECTS, Mock};
use super::texts::SUMMARY;
use llmposter::Fixture;

/// Both dialects fail with this code and these words, after two requests.
fn fails_as(code: &str, text: &str, expected: &str) {
    for dialect in DIALECTS {
        let mock = Mock::new(vec![Fixture::new().respond_with_content(text)]);
        Bench::new().fails_as(code, dialect, &mock.url(), &[], expected);
        assert_eq!(mock.requests(), 2, "{dialect}");
    }
}

#[test]
fn a_summary_that_is_larger_than_the_region_is_none() {
    let lines: Vec<_> = (0..3_000).map(|line| format!("\n- fact {line} of a list")).collect();
    fails_as("not_smaller", &format!("{SUMMARY}{}", lines.concat()), "host tokens, the region costs");
}

#[test]
fn a_summary_without_a_section_is_none() {
    let text = SUMMARY.replace("## Next Step", "## Outlook");
    fails_as("summary", &text, "\"Next Step\"");
}

#[test]
fn a_summary_that_repeats_itself_is_none() {
    let text = format!("{SUMMARY}{}", "\n- And so on.".repeat(200));
    fails_as("summary", &text, "repeats itself");
}

#[test]
fn a_summary_that_is_mended_lands() {
    for dialect in DIALECTS {
        let text = SUMMARY.replace("## Next Step", "## Outlook");
        let first = Fixture::new().respond_with_content(&text).with_scenario("s", Some(""), Some("told"));
        let second = Fixture::new().respond_with_content(SUMMARY).with_scenario("s", Some("told"), None);
        let mock = Mock::new(vec![first, second]);
        let run = Bench::new().compact(dialect, &mock.url(), &[]);
        assert_eq!((run.code, mock.requests()), (0, 2), "{run:?}");
        assert_eq!(Bench::report(&run)["summarizer"]["calls"], 2);
    }
}
