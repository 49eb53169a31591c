//! The messages that wait to be sent: a queue for the next turn and one for the next step (FORMAT §6.2).

use super::Finding;
use super::here::Here;
use super::payload::Payload;
use super::registry::rule_family;
use super::wording::quoted;
use crate::json::{self, Digest, Object, Raw};
use crate::log::Header;
use std::collections::{HashSet, VecDeque};

rule_family! {
    "relations";
    /// An edit of the message queue does not fit the queue as it stands.
    ///
    /// **What it means.** dsh writes each change of its queues of waiting messages as `agent/inbox/spliced`: where the
    /// change begins, how many messages go, which come. This one begins or removes behind the end of the queue, lets a
    /// message wait twice, or is not of that shape.
    ///
    /// **Why it matters.** dsh reads the session, but builds its queues from these events when it resumes it, and gives
    /// up at the first that does not fit. The session can be looked at and not be worked in.
    ///
    /// **How it comes about.** An edit was lost, or came twice: two programs wrote one log, or lines of it were taken
    /// out or copied by hand. No log that dsh wrote alone holds one.
    ///
    /// **What to do.** Look at what stands before it in the log: other findings there tell what was lost. The messages
    /// themselves are whole, since one that was sent stands in the log a second time as `user/message`.
    INBOX_SPLICE = error("inbox-splice");
}

/// The event that edits a queue.
const EDIT: &str = "agent/inbox/spliced";

const QUEUES: [&str; 2] = ["next-turn", "next-step"];

/// The queues, as the session's own events leave them: what a session inherited from another one is not its to send.
#[derive(Debug)]
pub(super) struct Inbox {
    /// The messages of each queue, by the digest of their ids; the order is that of [`QUEUES`].
    queues: [VecDeque<Option<Digest>>; 2],
    /// The ids of both: no message waits twice.
    ids: HashSet<Option<Digest>>,
    /// Events before this one are inherited for certain.
    cut: u64,
    is_seeded: bool,
    /// The first edit that does not fit; behind it the queues are not known.
    breach: Option<Finding>,
    in_doubt: bool,
}

impl Inbox {
    pub(super) fn new(header: &Header) -> Self {
        Self {
            queues: [VecDeque::new(), VecDeque::new()],
            ids: HashSet::new(),
            cut: header.seed_length.unwrap_or(0),
            is_seeded: header.is_seeded,
            breach: None,
            in_doubt: false,
        }
    }

    pub(super) fn event(&mut self, here: &Here) {
        match &*here.event.event_type {
            EDIT if here.session.format.knows(EDIT) && here.event.seq >= self.cut => self.edit(here),
            // What came before was inherited.
            "session/end-seed" if self.is_seeded && is_inherited(here.payload) => {
                self.queues.iter_mut().for_each(VecDeque::clear);
                self.ids.clear();
                (self.breach, self.in_doubt) = (None, false);
            }
            _ => {}
        }
    }

    fn edit(&mut self, here: &Here) {
        // Where events were lost, edits may be among them.
        self.in_doubt |= !here.losses.is_empty();
        if self.in_doubt || self.breach.is_some() {
            return;
        }
        if let Err(problem) = Splice::of(here.payload.get()).and_then(|splice| self.apply(splice)) {
            let finding = Finding::new(&INBOX_SPLICE, here.place, format!("{EDIT} {problem}"));
            let help = "dsh reads the log, and refuses to work in the session: it rebuilds its queues from these events";
            self.breach = Some(finding.at_seq(here.event.seq).with_help(help));
        }
    }

    fn apply(&mut self, splice: Splice) -> Result<(), String> {
        let Splice { queue, start, removed, inserted } = splice;
        let length = self.queues[queue].len();
        let end = start.checked_add(removed).filter(|end| *end <= length).ok_or_else(|| {
            let behind = if removed == 0 { String::new() } else { format!(" and removes {removed}") };
            format!("begins at {start}{behind}, and {length} wait for {}", QUEUES[queue])
        })?;
        // Turning the queue costs the shorter way around, and most edits are at one of its ends.
        let waiting = &mut self.queues[queue];
        waiting.rotate_left(start);
        for id in waiting.drain(..end - start) {
            self.ids.remove(&id);
        }
        for (id, name) in inserted.into_iter().rev() {
            if !self.ids.insert(id) {
                return Err(format!("adds message {name}, which waits already"));
            }
            waiting.push_front(id);
        }
        waiting.rotate_right(start);
        Ok(())
    }

    /// How many messages wait at the end of the log; `None` where that is not known.
    pub(super) fn waiting(&self) -> Option<usize> {
        let is_known = self.breach.is_none() && !self.in_doubt;
        is_known.then(|| self.queues.iter().map(VecDeque::len).sum())
    }

    pub(super) fn into_finding(self) -> Option<Finding> {
        self.breach
    }
}

/// An edit as dsh reads it.
struct Splice {
    /// Index in [`QUEUES`].
    queue: usize,
    start: usize,
    removed: usize,
    /// Ids of the messages that come: their digest, and as people read them.
    inserted: Vec<(Option<Digest>, String)>,
}

impl Splice {
    fn of(data: Option<&Object>) -> Result<Self, String> {
        let data = data.ok_or("must have a payload that is an object")?;
        let queue = QUEUES.iter().position(|name| data.has_text("target", name));
        let position = |raw: Raw| json::count(raw).and_then(|count| usize::try_from(count).ok());
        let start = data.get("start").and_then(position).ok_or("must have a start of zero or more")?;
        let removed = match data.get("removedCount").filter(|raw| !json::is_null(*raw)) {
            Some(raw) => position(raw).ok_or("must have a removedCount of zero or more, or none")?,
            None => 0,
        };
        let inserted = data.array("inserted").ok_or("must have a list of inserted messages")?;
        let id = |message: Raw| {
            let id = Object::of(message).and_then(|message| message.get("id"));
            (id.map(json::digest), id.map_or_else(String::new, |id| quoted(id.get().trim_matches('"'))))
        };
        Ok(Self {
            queue: queue.ok_or("must have the target next-turn or next-step")?,
            start,
            removed,
            inserted: inserted.into_iter().map(id).collect(),
        })
    }
}

fn is_inherited(payload: &Payload) -> bool {
    payload.get().and_then(|data| data.get("inherited")).is_some_and(json::is_true)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_bytes, check_events, codes, event, only};

    fn edit(seq: u64, data: &str) -> String {
        event(seq, "agent/inbox/spliced", data)
    }

    fn add(seq: u64, start: u64, id: &str) -> String {
        edit(seq, &format!(r#"{{"target":"next-turn","start":{start},"inserted":[{{"id":"{id}"}}]}}"#))
    }

    fn take(seq: u64, start: u64, count: u64) -> String {
        edit(
            seq,
            &format!(r#"{{"target":"next-turn","start":{start},"removedCount":{count},"inserted":[]}}"#),
        )
    }

    #[test]
    fn queues_that_fit_say_nothing() {
        let log =
            [add(0, 0, "a"), add(1, 1, "b"), add(2, 1, "c"), take(3, 1, 2), add(4, 0, "b"), take(5, 0, 2)];
        assert_eq!(codes(&check_events(&log)), [""; 0]);
    }

    #[test]
    fn the_first_edit_that_does_not_fit_is_told() {
        let one = |log: &[String]| {
            let finding = only(check_events(log));
            assert_eq!(finding.code, "inbox-splice");
            (finding.seq.unwrap(), finding.message)
        };
        let told = one(&[add(0, 0, "a"), take(1, 0, 2), take(2, 7, 7)]);
        assert_eq!(
            told,
            (1, "agent/inbox/spliced begins at 0 and removes 2, and 1 wait for next-turn".into())
        );
        let told =
            one(&[add(0, 0, "a"), edit(1, r#"{"target":"next-step","start":0,"inserted":[{"id":"a"}]}"#)]);
        assert_eq!(told, (1, "agent/inbox/spliced adds message \"a\", which waits already".into()));
        assert_eq!(one(&[add(0, 1, "a")]).1, "agent/inbox/spliced begins at 1, and 0 wait for next-turn");
        for shape in [
            r#"{"target":"later","start":0,"inserted":[]}"#,
            r#"{"target":"next-turn","start":-1,"inserted":[]}"#,
            r#"{"target":"next-turn","start":0}"#,
            r#"{"target":"next-turn","start":0,"removedCount":"1","inserted":[]}"#,
        ] {
            assert!(one(&[edit(0, shape)]).1.contains("must have"), "{shape}");
        }
    }

    #[test]
    fn what_was_inherited_or_lost_is_not_judged() {
        let seeded =
            |line: &str, lines: &[String]| check_bytes(format!("{line}\n{}\n", lines.join("\n")).as_bytes());
        let header =
            r#"{"type":"session","version":0,"id":"s","createdAt":1,"seedLength":1,"delegationDepth":0}"#;
        let end = |seq, data| event(seq, "session/end-seed", data);
        assert_eq!(codes(&seeded(header, &[take(0, 0, 1), end(1, "{}"), add(2, 0, "a")])), [""; 0]);
        assert_eq!(codes(&seeded(header, &[add(0, 0, "a"), end(1, "{}"), take(2, 0, 1)])), ["inbox-splice"]);
        let header =
            r#"{"type":"session","version":2,"id":"s","createdAt":1,"isSeeded":true,"delegationDepth":0}"#;
        let log = [take(0, 0, 1), end(1, r#"{"inherited":true}"#), add(2, 0, "a"), take(3, 0, 1)];
        assert_eq!(codes(&seeded(header, &log)), [""; 0]);
        let lost = [add(0, 0, "a"), "{".to_owned(), take(2, 0, 2)];
        assert!(!codes(&check_events(&lost)).contains(&"inbox-splice"));
    }
}
