//! The compaction lock in words: who holds it, which "busy" it is, and what may legally be written about it
//! (FORMAT §7.4, §10.1).

use super::wording::quoted;
use crate::format::{self, CheckedBy, Format};
use crate::session::{Lock, LockState, Owner};

/// The lock of a log, as one or two sentences for people: free, held or stale; by which start; what has become of its
/// owner; and for a held one the legal repairs in a log of this format version, and no others.
#[must_use]
pub fn lock_told(lock: &LockState, version: u64) -> String {
    let format = format::of(version).unwrap_or(format::NEWEST);
    match lock {
        LockState::Free => "free: no compaction is open".to_owned(),
        LockState::Stale(lock) => format!(
            "stale: the compaction that starts at seq {} ({}) never ended, but a later session/end-seed shows that its \
             owner is gone. Nothing is to be done: dsh takes the session for free",
            lock.start_seq,
            owner(lock)
        ),
        LockState::Held(lock) => format!(
            "held by the compaction that starts at seq {} ({}): {}. To free it: {}",
            lock.start_seq,
            owner(lock),
            situation(lock),
            repairs(lock, format)
        ),
    }
}

/// The ids of a lock: its compaction id and the turn that owns it.
pub(super) fn owner(lock: &Lock) -> String {
    let id =
        lock.compaction_id.as_deref().map_or_else(|| "no id".to_owned(), |id| format!("id {}", quoted(id)));
    match lock.turn {
        Some(turn) => format!("{id}, owner turn {turn}"),
        None if lock.is_turn_valid => format!("{id}, no owner turn"),
        None => format!("{id}, an owner turn that is no number"),
    }
}

/// Which of the situations it is in which dsh answers "busy".
pub(super) fn situation(lock: &Lock) -> String {
    let since = lock.crossing_seq.map_or_else(String::new, |seq| format!(" since seq {seq}"));
    match (lock.turn, lock.owner, lock.crossing_seq) {
        (Some(turn), Owner::Open, None) => {
            format!("turn {turn} is open still, so dsh may be at work in it right now")
        }
        (Some(turn), Owner::Open | Owner::Ended, _) => {
            format!("turn {turn} is over{since}, so it is an orphan that no compaction/end may close")
        }
        (Some(turn), Owner::None, _) => {
            format!("turn {turn} never was, so it is an orphan that no compaction/end may close")
        }
        (None, ..) if !lock.is_turn_valid => {
            "it names no turn that could be, so it is an orphan that no compaction/end may close".to_owned()
        }
        (None, _, None) => "it stands between turns and was left open".to_owned(),
        (None, _, Some(seq)) => format!(
            "it stood between turns, and a turn has begun or ended behind it at seq {seq}, so it is an orphan that no \
             compaction/end may close"
        ),
    }
}

/// What may legally be written, and by whom. `format` is the log's.
pub(super) fn repairs(lock: &Lock, format: &Format) -> String {
    const IN_USE: &str = "if dsh is at work in this session right now, let it finish. Else ";
    const NEXT_OPEN: &str =
        "the next time dsh opens the session it writes session/end-seed, which voids the lock";
    if let Some(turn) = legal_end(lock) {
        return format!(
            "{IN_USE}{NEXT_OPEN}; until a turn begins or ends, a compaction/end with an error and turn {turn} is legal too"
        );
    }
    let no_end = lock.earlier_seq.map_or_else(
        || "no compaction/end is legal any more".to_owned(),
        |earlier| {
            format!(
                "no compaction/end makes the log right, since the compaction that starts at seq {earlier} has no end either"
            )
        },
    );
    let has_sound_start = lock.is_turn_valid
        && lock.earlier_seq.is_none()
        && (lock.turn.is_none() || lock.owner != Owner::None);
    match format.relations.checked {
        CheckedBy::Load if has_sound_start => format!(
            "dsh opens no log of format {} with a turn boundary inside an open bracket; only a session/end-seed that is \
             appended to the log voids the lock; {no_end}",
            format.version
        ),
        CheckedBy::Load => format!(
            "dsh opens no log of format {} with such a start, whatever is appended; go on from a copy that ends before it; \
             {no_end}",
            format.version
        ),
        CheckedBy::Invariants | CheckedBy::Upgrade | CheckedBy::Codec | CheckedBy::Nobody => {
            format!("{NEXT_OPEN}; {no_end}")
        }
    }
}

/// The `turn` of a `compaction/end` that may still close the bracket; none where none may.
fn legal_end(lock: &Lock) -> Option<String> {
    lock.is_closable.then(|| lock.turn.map_or_else(|| "null".to_owned(), |turn| turn.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_events_of, event};

    fn start(seq: u64, turn: &str) -> String {
        event(seq, "compaction/start", &format!(r#"{{"compactionId":"l","turn":{turn}}}"#))
    }

    fn told_in(version: u64, events: &[String]) -> String {
        super::lock_told(&check_events_of(version, events).ending.lock.unwrap(), version)
    }

    fn told(events: &[String]) -> String {
        told_in(0, events)
    }

    #[test]
    fn repairs_go_by_what_the_format_opens() {
        let turn = |seq: u64| event(seq, "turn/start", r#"{"turn":1}"#);
        let end = |seq: u64| event(seq, "turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#);
        for (version, repair) in [
            (3, "To free it: the next time dsh opens the session it writes session/end-seed"),
            (4, "To free it: dsh opens no log of format 4 with a turn boundary inside an open bracket"),
        ] {
            let told = told_in(version, &[turn(0), start(1, "1"), end(2)]);
            assert!(told.contains(repair), "{told}");
        }
        let never = told_in(4, &[start(0, "7")]);
        assert!(never.contains("with such a start, whatever is appended"), "{never}");
    }

    #[test]
    fn no_end_helps_behind_another_open_bracket() {
        let two = told(&[start(0, "null"), start(1, "null")]);
        assert!(two.ends_with("since the compaction that starts at seq 0 has no end either"), "{two}");
        let voided = told(&[start(0, "null"), event(1, "session/end-seed", "{}"), start(2, "null")]);
        assert!(voided.ends_with("with an error and turn null is legal too"), "{voided}");
    }

    #[test]
    fn every_situation_has_its_sentence() {
        let turn = |seq: u64, turn: u64| event(seq, "turn/start", &format!(r#"{{"turn":{turn}}}"#));
        let end = |seq: u64| event(seq, "turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#);
        let seed = |seq: u64| event(seq, "session/end-seed", "{}");
        for (log, situation, legal_end) in [
            (vec![turn(0, 1), start(1, "1")], "turn 1 is open still, so dsh may be at work", Some("turn 1")),
            (vec![turn(0, 1), start(1, "1"), end(2)], "turn 1 is over since seq 2, so it is an orphan", None),
            (vec![turn(0, 1), start(1, "1"), end(2), turn(3, 2)], "turn 1 is over since seq 2", None),
            (vec![start(0, "7")], "turn 7 never was", None),
            (vec![start(0, "\"x\"")], "names no turn that could be", None),
            (vec![start(0, "null")], "stands between turns and was left open", Some("turn null")),
            (vec![start(0, "null"), turn(1, 1)], "a turn has begun or ended behind it at seq 1", None),
        ] {
            let told = told(&log);
            assert!(told.starts_with("held by the compaction that starts at seq "), "{told}");
            assert!(told.contains("(id \"l\", ") && told.contains(situation), "{told}");
            assert!(told.contains("it writes session/end-seed, which voids the lock"), "{told}");
            match legal_end {
                Some(turn) => {
                    assert!(told.ends_with(&format!("with an error and {turn} is legal too")), "{told}");
                }
                None => assert!(told.ends_with("no compaction/end is legal any more"), "{told}"),
            }
        }
        let stale = told(&[turn(0, 1), start(1, "1"), end(2), seed(3)]);
        assert!(
            stale.starts_with("stale: the compaction that starts at seq 1 (id \"l\", owner turn 1)"),
            "{stale}"
        );
        assert_eq!(told(&[turn(0, 1), end(1)]), "free: no compaction is open");
    }
}
