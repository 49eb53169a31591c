//! What dsh adds up from the figures of providers: the tokens of the answers, and the model's window.
//!
//! dsh shows these sums with every session, and none of them may be anything but a count (measured with 0.1.0-rc.8).

use super::Step;
use crate::check::Finding;
use crate::check::here::Here;
use crate::check::registry::{Rule, rule_family};
use crate::json::{self, Kind, MAX_SAFE_INTEGER, Object, Raw};
use crate::log::Place;

rule_family! {
    "payload";
    /// The tokens that an answer says it took do not add up to counts.
    ///
    /// **What it means.** The `usage` of an `assistant/message`, or of the chunk `usage` that comes before it, holds
    /// `inputTokens` and `outputTokens` and may hold `cacheReadTokens` and `cacheWriteTokens`. dsh adds each of the four
    /// up over the session. By this log one of the sums, or what the last request took, is no count at the end. The
    /// finding stands at the event from which on it is none.
    ///
    /// **Why it matters.** dsh checks the sums whenever it shows or restores the session, and fails if one is no count.
    /// The events are sound and nothing is lost, but the session cannot be opened.
    ///
    /// **How it comes about.** An adapter of a provider left a figure out, wrote it as a text or a fraction, or wrote
    /// null for the whole.
    ///
    /// **What to do.** Let the adapter write counts, or no `usage` at all. In this log the event cannot be changed; the
    /// session goes on from a copy that ends before it.
    USAGE = error("usage-invalid");
    /// The last `request/context` names a context window that is no size.
    ///
    /// **What it means.** The `contextWindow` of a `request/context` is a whole number of tokens above zero, or is left
    /// out where the window is not known. The last one in the log has something else.
    ///
    /// **Why it matters.** dsh checks the window whenever it shows or restores the session, and fails. The session
    /// cannot be opened until another `request/context` follows, which only an open session can write.
    ///
    /// **How it comes about.** An adapter of a provider, or a setting, gave null or zero for a window that it did not
    /// know.
    ///
    /// **What to do.** Leave the member out. In this log the event cannot be changed; the session goes on from a copy
    /// that ends before it.
    WINDOW = error("context-window-invalid");
}

const HELP: &str = "dsh cannot show or restore a session with such a figure; an adapter of a provider, or another tool, left it";

/// The figures of one answer, in this order, and whether one may be left out.
const MEMBERS: [(&str, bool); 4] =
    [("inputTokens", false), ("outputTokens", false), ("cacheReadTokens", true), ("cacheWriteTokens", true)];

type Figures = [f64; 4];

/// The sums, as JavaScript adds, and the events that spoil them.
#[derive(Debug, Default)]
pub(super) struct Usage {
    sums: Figures,
    /// The last sample, by turn and step: one of the same step takes its place.
    last: Option<(Step, Figures)>,
    spoilt: Option<Spoilt>,
    window: Option<Spoilt>,
}

#[derive(Debug)]
struct Spoilt {
    seq: u64,
    place: Place,
    message: String,
}

impl Usage {
    /// Takes what an answer or a chunk `usage` says; a chunk may lack it.
    pub(super) fn sample(&mut self, usage: Option<Raw>, step: Step, here: &Here) {
        let members = usage.and_then(Object::of);
        let figures = figures(members.as_ref());
        let before = self.last.take().filter(|(last, _)| *last == step);
        let before = before.map_or([0.0; 4], |(_, before)| before);
        for (sum, (before, now)) in self.sums.iter_mut().zip(before.into_iter().zip(figures)) {
            *sum = *sum - before + now;
        }
        self.last = Some((step, figures));
        let [input, _, read, write] = figures;
        let is_sound = self.sums.into_iter().chain([input + read + write]).all(is_count);
        let mut given = MEMBERS.into_iter().filter_map(|(member, _)| members.as_ref()?.get(member));
        if is_sound && !given.any(is_text) {
            self.spoilt = None;
            return;
        }
        self.spoilt.get_or_insert_with(|| Spoilt {
            seq: here.event.seq,
            place: here.place,
            message: problem(usage, members.as_ref(), figures),
        });
    }

    /// Takes a `request/context`: the last one counts.
    pub(super) fn window(&mut self, here: &Here) {
        let window = here.payload.get().and_then(|data| data.get("contextWindow"));
        let wrong = window.filter(|window| json::count(*window).is_none_or(|window| window == 0));
        self.window = wrong.map(|window| Spoilt {
            seq: here.event.seq,
            place: here.place,
            message: format!("the contextWindow is {}, which is no size in tokens", json::sample(window)),
        });
    }

    /// What is to be said at the end of the log.
    pub(super) fn findings(&self) -> impl Iterator<Item = Finding> {
        let told = |(rule, spoilt): (&Rule, &Option<Spoilt>)| {
            let Spoilt { seq, place, message } = spoilt.as_ref()?;
            Some(Finding::new(rule, *place, message.clone()).at_seq(*seq).with_help(HELP))
        };
        [(&USAGE, &self.spoilt), (&WINDOW, &self.window)].into_iter().filter_map(told)
    }
}

fn figures(usage: Option<&Object>) -> Figures {
    MEMBERS.map(|(member, is_optional)| match usage.map(|usage| usage.get(member)) {
        Some(None) if is_optional => 0.0,
        Some(Some(figure)) => number(figure),
        Some(None) | None => f64::NAN,
    })
}

/// What JavaScript takes a figure for; an array stands for its one element.
fn number(figure: Raw) -> f64 {
    match json::kind(figure) {
        Kind::Null => 0.0,
        Kind::Bool => f64::from(u8::from(json::is_true(figure))),
        Kind::Number => json::number(figure).unwrap_or(f64::NAN),
        // It is written behind the digits of the sum, and the whole is read as a number.
        Kind::String => match json::text(figure).unwrap_or_default().to_str().trim_end() {
            "" => 0.0,
            digits if digits.starts_with(|first: char| first.is_ascii_digit()) => {
                digits.parse().unwrap_or(f64::NAN)
            }
            _ => f64::NAN,
        },
        Kind::Array => match json::array(figure).unwrap_or_default()[..] {
            [] => 0.0,
            [only] if matches!(json::kind(only), Kind::Number | Kind::String | Kind::Null) => number(only),
            _ => f64::NAN,
        },
        Kind::Object => f64::NAN,
    }
}

/// Whether a figure makes the sum a text, which the next sample takes for a number if it reads as one.
fn is_text(figure: Raw) -> bool {
    matches!(json::kind(figure), Kind::String | Kind::Array)
}

#[expect(clippy::cast_precision_loss, reason = "2^53 - 1 is a number of JavaScript")]
fn is_count(figure: f64) -> bool {
    figure >= 0.0 && figure.fract() == 0.0 && figure <= MAX_SAFE_INTEGER as f64
}

/// What is wrong with a sample that spoils the sums.
fn problem(raw: Option<Raw>, usage: Option<&Object>, figures: Figures) -> String {
    let Some(raw) = raw else { return "the chunk has no usage".to_owned() };
    let Some(usage) = usage else { return format!("the usage is {}", json::sample(raw)) };
    let is_wrong = |member: &str, figure| usage.get(member).is_some_and(is_text) || !is_count(figure);
    let wrong = MEMBERS.into_iter().zip(figures).find(|((member, _), figure)| is_wrong(member, *figure));
    match wrong.map(|((member, _), _)| (member, usage.get(member))) {
        Some((member, Some(figure))) => {
            format!("the usage has {member} {}, which is no count of tokens", json::sample(figure))
        }
        Some((member, None)) => format!("the usage has no {member}"),
        None => "with the usage of this answer the sums are beyond what is counted exactly".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::check::testing::{check_events, codes, event};

    fn answer(seq: u64, step: u64, usage: &str) -> String {
        let chunk = format!(r#"{{"turn":1,"step":{step},"chunk":{{"type":"usage","usage":{usage}}}}}"#);
        event(seq, "assistant/chunk", &chunk)
    }

    fn found(lines: &[String]) -> Vec<(&'static str, u64)> {
        let checked = check_events(lines);
        let seqs = checked.findings.iter().map(|finding| finding.seq.unwrap());
        codes(&checked).into_iter().zip(seqs).collect()
    }

    #[test]
    fn what_answers_took_adds_up_to_counts() {
        for sound in [
            r#"{"inputTokens":1,"outputTokens":2,"cacheReadTokens":3.0}"#,
            // As JavaScript adds.
            r#"{"inputTokens":null,"outputTokens":true,"cacheWriteTokens":null,"other":"x"}"#,
        ] {
            assert_eq!(found(&[answer(0, 1, sound)]), [], "{sound}");
        }
        for wrong in [
            "null",
            "5",
            "{}",
            r#"{"inputTokens":"1","outputTokens":2}"#,
            r#"{"inputTokens":1.5,"outputTokens":2}"#,
            r#"{"inputTokens":-1,"outputTokens":2}"#,
            r#"{"inputTokens":1,"outputTokens":2,"cacheReadTokens":{}}"#,
            r#"{"inputTokens":9007199254740992,"outputTokens":2}"#,
        ] {
            assert_eq!(found(&[answer(0, 1, wrong)]), [("usage-invalid", 0)], "{wrong}");
        }
    }

    #[test]
    fn a_later_figure_of_the_step_takes_the_place_of_an_earlier_one() {
        let (half, whole) =
            (r#"{"inputTokens":1.5,"outputTokens":2}"#, r#"{"inputTokens":1,"outputTokens":2}"#);
        assert_eq!(found(&[answer(0, 1, half), answer(1, 1, whole)]), []);
        assert_eq!(found(&[answer(0, 1, half), answer(1, 2, whole)]), [("usage-invalid", 0)]);
        assert_eq!(
            found(&[answer(0, 1, half), answer(1, 2, half)]),
            [("usage-invalid", 0)],
            "the last one is no count"
        );
        assert_eq!(found(&[answer(0, 1, "{}"), answer(1, 1, whole)]), [("usage-invalid", 0)], "NaN stays");
        let text = r#"{"inputTokens":["1"],"outputTokens":2}"#;
        assert_eq!(
            found(&[answer(0, 1, text), answer(1, 1, whole)]),
            [],
            "digits are taken for their number"
        );
    }

    #[test]
    fn what_is_no_number_behind_a_digit_never_becomes_one() {
        let whole = answer(1, 1, r#"{"inputTokens":1,"outputTokens":2}"#);
        for text in ["x", " 5", "-5", "+5"] {
            let usage = format!(r#"{{"inputTokens":"{text}","outputTokens":2}}"#);
            assert_eq!(found(&[answer(0, 1, &usage), whole.clone()]), [("usage-invalid", 0)], "{text:?}");
        }
    }

    #[test]
    fn the_last_window_is_a_size() {
        let window = |seq, window: &str| event(seq, "request/context", &format!("{{{window}}}"));
        let (sound, wrong, none) = (r#""contextWindow":4096"#, r#""contextWindow":0"#, "");
        assert_eq!(found(&[window(0, wrong), window(1, sound)]), []);
        assert_eq!(found(&[window(0, wrong), window(1, none)]), []);
        assert_eq!(found(&[window(0, sound), window(1, wrong)]), [("context-window-invalid", 1)]);
        assert_eq!(found(&[window(0, r#""contextWindow":null"#)]), [("context-window-invalid", 0)]);
    }
}
