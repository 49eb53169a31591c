//! Retries of a request: numbered chains, each attempt announced and started once (FORMAT §6.2, §10.2).

use super::here::{Here, open, shown};
use super::turns::Turns;
use crate::check::registry::rule_family;
use crate::check::wording::quoted;
use crate::json::{self, Digest};
use std::collections::HashMap;

rule_family! {
    "relations";
    /// A retry has no retryId.
    ID_INVALID = error("retry-id-invalid");
    /// A retry names another turn or step than the current one.
    PLACE = error("retry-place");
    /// A retry names another provider than the latest request header.
    PROVIDER = error("retry-provider");
    /// A retry does not carry the next number of its chain.
    NUMBER = error("retry-number");
    /// A chain of retries goes on under another retryId.
    ID_CHANGED = error("retry-id-changed");
    /// A chain of retries takes the retryId of another one.
    ID_REUSED = error("retry-id-reused");
    /// An attempt starts that no retry has announced so.
    STARTED_UNMATCHED = error("retry-started-unmatched");
    /// An announced attempt starts for the second time.
    STARTED_TWICE = error("retry-started-twice");
}

/// Every retry so far: their ids may not come twice in a log.
#[derive(Debug, Default)]
pub(super) struct Retries {
    chains: HashMap<Chain, Last>,
    /// By `retryId`.
    attempts: HashMap<Vec<u8>, Attempts>,
    /// The provider of the latest `request/header`.
    provider: Option<Digest>,
    /// A `request/header` was perhaps lost since the latest one.
    provider_in_doubt: bool,
}

/// What makes retries one chain: turn, step, provider and policy.
type Chain = [Option<Digest>; 4];

const CHAIN: [&str; 4] = ["turn", "step", "provider", "policyKey"];

/// The last retry of a chain.
#[derive(Debug)]
struct Last {
    id: Vec<u8>,
    number: u64,
    seq: u64,
}

/// What was announced under one `retryId`.
#[derive(Debug)]
struct Attempts {
    /// Seq of the first.
    first: u64,
    /// By number; where one came twice, the first.
    by_number: HashMap<u64, Attempt>,
}

/// One announced attempt.
#[derive(Debug)]
struct Attempt {
    /// Turn and step.
    place: [Option<Digest>; 2],
    seq: u64,
    started: Option<u64>,
}

impl Retries {
    pub(super) fn doubt(&mut self) {
        self.provider_in_doubt = true;
    }

    pub(super) fn header(&mut self, here: &Here) {
        let config = here.data.object("header").and_then(|header| header.object("config"));
        self.provider = config.and_then(|config| config.get("provider").map(json::digest));
        self.provider_in_doubt = false;
    }

    pub(super) fn retry(&mut self, turns: &Turns, here: &mut Here) {
        check_place(turns, here);
        if !self.provider_in_doubt && here.meaning("provider") != self.provider {
            let found = shown(here.data.get("provider"));
            let message = if self.provider.is_some() {
                format!("llm/retry names provider {found}, the latest request/header another one")
            } else {
                format!("llm/retry names provider {found}, but no request/header has come")
            };
            here.tell(&PROVIDER, message);
        }
        let Some(id) = here.text("retryId") else { return invalid(here) };
        let id = id.as_bytes();
        let chain = CHAIN.map(|key| here.meaning(key));
        let last = self.chains.get(&chain);
        let expected = last.map_or(1, |last| last.number.saturating_add(1));
        let found = here.data.count("retry");
        if found != Some(expected) && !(here.has_gaps && found > Some(expected)) {
            let message =
                format!("llm/retry has number {} where {expected} is next", shown(here.data.get("retry")));
            match last {
                Some(last) => here.tell_relating(&NUMBER, message, last.seq, "the retry before"),
                None => here.tell(&NUMBER, message),
            }
        }
        match last {
            Some(last) if last.id != id => {
                let message = format!("llm/retry has retryId {}, its chain another one", shown_id(here));
                here.tell_relating(&ID_CHANGED, message, last.seq, "the retry before");
            }
            Some(_) => {}
            None => {
                if let Some(other) = self.attempts.get(id) {
                    let message = format!("llm/retry takes retryId {} of another chain", shown_id(here));
                    here.tell_relating(&ID_REUSED, message, other.first, "the other chain");
                }
            }
        }
        let (number, seq) = (found.unwrap_or(expected), here.event.seq);
        self.chains.insert(chain, Last { id: id.to_vec(), number, seq });
        let [turn, step, ..] = chain;
        let attempts = self.attempts.entry(id.to_vec());
        let attempts = attempts.or_insert_with(|| Attempts { first: seq, by_number: HashMap::new() });
        attempts.by_number.entry(number).or_insert(Attempt { place: [turn, step], seq, started: None });
    }

    pub(super) fn started(&mut self, here: &mut Here) {
        let Some(id) = here.text("retryId") else { return invalid(here) };
        let found = here.data.count("retry");
        let attempts = self.attempts.get_mut(id.as_bytes());
        let attempt = attempts.zip(found).and_then(|(attempts, number)| {
            attempts.by_number.get_mut(&number).map(|attempt| (number, attempt))
        });
        let Some((number, attempt)) = attempt else {
            if !here.has_gaps || found.is_none() {
                let message = format!(
                    "attempt {} of retry {} starts, but none is announced",
                    shown(here.data.get("retry")),
                    shown_id(here)
                );
                here.tell(&STARTED_UNMATCHED, message);
            }
            return;
        };
        if let Some(first) = attempt.started {
            let message = format!("attempt {number} of retry {} starts again", shown_id(here));
            here.tell_relating(&STARTED_TWICE, message, first, "the first start");
        } else if attempt.place != ["turn", "step"].map(|key| here.meaning(key)) {
            let message = format!(
                "attempt {number} of retry {} starts in another turn or step than announced",
                shown_id(here)
            );
            here.tell_relating(&STARTED_UNMATCHED, message, attempt.seq, "the announcement");
        }
        attempt.started.get_or_insert(here.event.seq);
    }
}

/// A retry belongs to the open step, or after it to the turn that is still open.
fn check_place(turns: &Turns, here: &mut Here) {
    let Some((turn, step)) = turns.current() else { return };
    let found = (here.data.count("turn"), here.data.count("step"));
    if turn.is_none() || found != (turn, Some(step)) {
        let [named_turn, named_step] = ["turn", "step"].map(|key| shown(here.data.get(key)));
        let message = format!(
            "llm/retry names turn {named_turn}, step {named_step}, but {} is open, its last step {step}",
            open("turn", turn)
        );
        here.tell(&PLACE, message);
    }
}

fn invalid(here: &mut Here) {
    let message = format!("{} must have a retryId that is a text and not empty", here.name());
    here.tell(&ID_INVALID, message);
}

fn shown_id(here: &Here) -> String {
    here.text("retryId").map_or_else(String::new, |id| quoted(&id.to_str()))
}

#[cfg(test)]
mod tests {

    use crate::check::relations::testing::{Case, HEADER, STEP, TURN, codes, found, header, judge, lines};

    fn retry(id: &str, number: u64) -> String {
        format!(r#"{{"retryId":"{id}","turn":1,"step":1,"provider":"p","policyKey":"k","retry":{number}}}"#)
    }

    fn judged(events: &[(&str, &str)]) -> Vec<String> {
        found(&[&[("turn/start", TURN), ("step/start", STEP), ("request/header", HEADER)], events].concat())
    }

    const RETRY: &str = "llm/retry";
    const STARTED: &str = "llm/retry-started";

    #[test]
    fn chains_count_up() {
        let (one, two) = (retry("a", 1), retry("a", 2));
        let other = retry("b", 1).replace("\"k\"", "\"l\"");
        let sound = [(RETRY, &*one), (STARTED, &one), (RETRY, &two), (RETRY, &other), (STARTED, &two)];
        assert_eq!(judged(&sound), [""; 0]);
        let after = [(RETRY, &*one), ("step/end", STEP), (RETRY, &two)];
        assert_eq!(judged(&after), [""; 0], "between steps the last one counts");
    }

    #[test]
    fn each_breach_has_its_code() {
        let (one, two, three) = (retry("a", 1), retry("a", 2), retry("a", 3));
        let elsewhere = one.replace("\"step\":1", "\"step\":2");
        let provider = one.replace("\"p\"", "\"q\"");
        let policy = one.replace("\"k\"", "\"l\"");
        let cases: &[Case] = &[
            (&[(RETRY, &elsewhere)], &["retry-place@3"]),
            (&[(RETRY, &provider)], &["retry-provider@3"]),
            (&[(RETRY, &two), (RETRY, &three)], &["retry-number@3"]),
            (&[(RETRY, &one), (RETRY, &one)], &["retry-number@4"]),
            (&[(RETRY, &one), (RETRY, &retry("b", 2))], &["retry-id-changed@4"]),
            (&[(RETRY, &one), (RETRY, &policy)], &["retry-id-reused@4"]),
            (&[(STARTED, &one)], &["retry-started-unmatched@3"]),
            (&[(RETRY, &one), (STARTED, &elsewhere)], &["retry-started-unmatched@4"]),
            (&[(RETRY, &one), (STARTED, &one), (STARTED, &one)], &["retry-started-twice@5"]),
            (&[(RETRY, "{\"turn\":1,\"step\":1,\"provider\":\"p\"}")], &["retry-id-invalid@3"]),
        ];
        for (events, expected) in cases {
            assert_eq!(judged(events), *expected);
        }
        assert_eq!(found(&[("turn/start", TURN), ("step/start", STEP), (RETRY, &one)]), ["retry-provider@2"]);
    }

    #[test]
    fn of_attempts_with_one_number_the_first_counts() {
        let one = retry("a", 1);
        let elsewhere = one.replace("\"step\":1", "\"step\":2");
        let twice = [(RETRY, &*one), (RETRY, &elsewhere), (STARTED, &one)];
        assert_eq!(judged(&twice), ["retry-id-reused@4", "retry-place@4"]);
    }

    #[test]
    fn one_chain_of_many_attempts_takes_no_more_time_for_each() {
        // Comparing each start with each announcement takes many times as long.
        let retries: Vec<String> = (1..=30_000).map(|number| retry("a", number)).collect();
        let announced = retries.iter().map(|retry| (RETRY, &**retry));
        let started = retries.iter().rev().map(|retry| (STARTED, &**retry));
        assert_eq!(judged(&announced.chain(started).collect::<Vec<_>>()), [""; 0]);
    }

    #[test]
    fn a_lost_header_or_retry_is_no_breach() {
        let log = [
            ("turn/start", TURN),
            ("step/start", STEP),
            ("request/header", HEADER),
            (RETRY, &*retry("a", 1)),
            (RETRY, &retry("a", 2)),
            (STARTED, &retry("a", 2)),
        ];
        for lost in 0..log.len() {
            let mut log = lines(&log);
            log[lost] = "{".to_owned();
            assert_eq!(codes(&judge(&header(4), &log)), [""; 0], "{lost}");
        }
    }
}
