//! Retries of a request: numbered chains, each attempt announced and started once (FORMAT §6.2, §10.2).

use super::here::{Here, open, shown};
use super::turns::Turns;
use crate::check::registry::rule_family;
use crate::check::wording::quoted;
use crate::json::{self, Digest};
use std::collections::HashMap;

rule_family! {
    "relations";
    /// A retry has no `retryId`.
    ///
    /// **What it means.** `llm/retry` and `llm/retry-started` must carry a `retryId` that is a text and not
    /// empty. This one does not, and is not looked at further.
    ///
    /// **Why it matters.** The id joins the announcement of a try with its start. Format 4 refuses the log;
    /// an upgrade from format 0 fills in ids that development builds did not write, and refuses empty ones.
    ///
    /// **How it comes about.** A plugin that retries requests by itself left the member out. A number in its
    /// place is no text either.
    ///
    /// **What to do.** Make one id for each chain of retries and keep it for all its tries. The model does
    /// not see retries, so in formats 0 to 3 the session can be worked with as it is.
    ID_INVALID = error("retry-id-invalid");
    /// A retry names another turn or step than the current one.
    ///
    /// **What it means.** An `llm/retry` belongs to the step that is open, or between two steps to the last
    /// one of the open turn. It names another, or no turn is open.
    ///
    /// **Why it matters.** A retry that belongs to no request cannot be counted against its limit. Format 4
    /// does not open the log.
    ///
    /// **How it comes about.** The delay before the retry was long, and the turn had been cancelled when the
    /// event was written. A plugin that keeps turn and step from its first request does it in each later one.
    ///
    /// **What to do.** Before a retry is written, look whether the request's step is still the current one,
    /// and drop it otherwise. In the log as it is the event cannot be moved.
    PLACE = error("retry-place");
    /// A retry names another provider than the latest request header.
    ///
    /// **What it means.** The `provider` of `llm/retry` must be the one of the `request/header` that holds at
    /// that moment. It is another, or no header has come. Behind lost events nothing is said until the next
    /// header.
    ///
    /// **Why it matters.** Policies of retries belong to a provider, and the log would say that a request
    /// went where no header sent it. Format 4 refuses it, and upgrades do.
    ///
    /// **How it comes about.** A router between dsh and the models switched to a second provider after a
    /// failure and wrote that one's name. It had no header for it.
    ///
    /// **What to do.** Write a `request/header` with the new provider first; the chain of retries then begins
    /// anew, with an id of its own. Or keep the router's switch out of the log.
    PROVIDER = error("retry-provider");
    /// A retry does not carry the next number of its chain.
    ///
    /// **What it means.** Retries of one turn, step, provider and policy count 1, 2, 3. Here a number is left
    /// out or comes twice; where events were lost, a number that is too high is no breach.
    ///
    /// **Why it matters.** The number is what is held against the limit, and format 4 refuses a chain with a
    /// gap or a repeat. An upgrade compares the same.
    ///
    /// **How it comes about.** The writer counts all tries, so that the first retry is 2, or counts on from
    /// another step. Two writers of one session repeat numbers.
    ///
    /// **What to do.** Count retries, not tries, and from 1 for each step and policy. To open the log in
    /// format 4, use a copy that ends before the event.
    NUMBER = error("retry-number");
    /// A chain of retries goes on under another `retryId`.
    ///
    /// **What it means.** The retry has the turn, step, provider and policy of one before it, but not its id.
    /// All tries of one chain carry the id of the first.
    ///
    /// **Why it matters.** The chain falls into two, whose numbers no longer begin at 1. Format 4 refuses the
    /// log for it, and no upgrade takes it.
    ///
    /// **How it comes about.** A writer makes a new id for each try. Or it lost its own when it was
    /// restarted.
    ///
    /// **What to do.** Keep the id with the chain until the step ends or the policy changes. After a restart
    /// read it from the last `llm/retry` of the log.
    ID_CHANGED = error("retry-id-changed");
    /// A chain of retries takes the `retryId` of another one.
    ///
    /// **What it means.** The first retry of a chain has an id that was used for another turn, step, provider
    /// or policy. An id holds for the whole log. The finding names the chain that had it first.
    ///
    /// **Why it matters.** A start that names only the id and a number could belong to either. Format 4
    /// refuses the log at this retry.
    ///
    /// **How it comes about.** A plugin takes a constant, the provider's name or a count per turn for the id.
    /// Forks that copy a step by hand and change its number repeat them as well.
    ///
    /// **What to do.** Use something that does not come twice, such as a UUID. The events that stand are
    /// right only in a copy that ends before the second chain.
    ID_REUSED = error("retry-id-reused");
    /// An attempt starts that no retry has announced so.
    ///
    /// **What it means.** An `llm/retry-started` names an id and number for which no `llm/retry` stands
    /// before it, or names another turn or step than that one. Where events were lost, a missing announcement
    /// is no breach.
    ///
    /// **Why it matters.** The announcement holds failure, delay and limit; a try without it was made for no
    /// known reason. Format 4 refuses the log.
    ///
    /// **How it comes about.** A plugin writes only the start, or writes the announcement after the delay
    /// together with the start, in the wrong order. A start that comes after the step was changed names the
    /// new one.
    ///
    /// **What to do.** Write `llm/retry` as soon as the retry is decided, and `llm/retry-started` when the
    /// request is sent, with the same id, number, turn and step. Where the retry was given up during the
    /// delay, leave the start out.
    STARTED_UNMATCHED = error("retry-started-unmatched");
    /// An announced attempt starts for the second time.
    ///
    /// **What it means.** A second `llm/retry-started` comes for a try that has started. The finding names
    /// the first start.
    ///
    /// **Why it matters.** One announcement is one request; the second would be unannounced. Format 4 does
    /// not open the log, and an upgrade refuses it.
    ///
    /// **How it comes about.** A worker that was restarted sent its waiting request again. Or the event was
    /// written both before and after the request.
    ///
    /// **What to do.** If a try failed, announce the next one with the next number before it starts. Write
    /// each start once.
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
