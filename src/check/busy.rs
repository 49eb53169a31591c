//! Why dsh would answer "busy" to a request for a compaction (FORMAT §7.4).

use super::inbox::Inbox;
use crate::session::{LockState, Session};

/// What makes dsh refuse a manual compaction as "busy" while the session is as its log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// A compaction has begun and not ended: its start is the lock. dsh refuses automatic compactions for it, too.
    CompactionLock,
    /// A turn is open.
    OpenTurn,
    /// Messages wait for the next turn or step: the agent has work.
    WaitingMessages,
}

impl Busy {
    /// The word that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CompactionLock => "compaction-lock",
            Self::OpenTurn => "open-turn",
            Self::WaitingMessages => "waiting-messages",
        }
    }

    /// All that hold at the end of a log.
    pub(super) fn all(lock: &LockState, session: &Session, inbox: &Inbox) -> Vec<Self> {
        let holds = [
            (Self::CompactionLock, matches!(lock, LockState::Held(_))),
            (Self::OpenTurn, session.turns.open().is_some()),
            (Self::WaitingMessages, inbox.waiting().is_some_and(|waiting| waiting > 0)),
        ];
        holds.into_iter().filter_map(|(busy, holds)| holds.then_some(busy)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_events, event};
    use super::Busy::{self, CompactionLock, OpenTurn, WaitingMessages};

    fn busy(lines: &[String]) -> Vec<Busy> {
        check_events(lines).ending.busy
    }

    #[test]
    fn each_situation_is_told_for_itself() {
        let turn = event(0, "turn/start", r#"{"turn":1}"#);
        let start =
            |seq, turn| event(seq, "compaction/start", &format!(r#"{{"compactionId":"c","turn":{turn}}}"#));
        let queue =
            event(0, "agent/inbox/spliced", r#"{"target":"next-turn","start":0,"inserted":[{"id":"a"}]}"#);
        assert_eq!(busy(&[event(0, "todo/write", "{}")]), []);
        assert_eq!(busy(std::slice::from_ref(&turn)), [OpenTurn]);
        assert_eq!(busy(&[turn, start(1, "1")]), [CompactionLock, OpenTurn]);
        assert_eq!(busy(&[queue, start(1, "null")]), [CompactionLock, WaitingMessages]);
        let stale = [start(0, "null"), event(1, "session/end-seed", "{}")];
        assert_eq!(busy(&stale), []);
    }
}
