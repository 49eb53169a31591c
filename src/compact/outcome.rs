//! What came of one log.

use super::exact::ExactTokens;
use super::gates::Recall;
use super::prune::Pruned;
use crate::batch::journal::{Pair, Past};
use crate::guard::{self, Reason};
use crate::log::Header;
use crate::session::{Session, TaskVisibility};
use crate::summarize::Usage;
use std::collections::HashSet;
use std::path::PathBuf;

/// What came of one log, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// A region was replaced.
    Compacted,
    /// A dry run found a region and its plan.
    Planned,
    /// Everything on the surface stays.
    NothingToDo,
    /// Refused before the first byte was written.
    Refused,
    /// Failed after it had begun. Nothing was replaced but what was pruned, or compacted by an earlier pass.
    Failed,
    /// The log could not be read.
    Unreadable,
    /// An earlier run has done it, and it has not changed since.
    Skipped,
}

impl Status {
    /// The word that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compacted => "compacted",
            Self::Planned => "planned",
            Self::NothingToDo => "nothing_to_do",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Unreadable => "unreadable",
            Self::Skipped => "skipped",
        }
    }
}

/// The region that was, or would be, replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Its first seq.
    pub start: u64,
    /// Its last seq.
    pub end: u64,
    /// All its seqs, in surface order.
    pub seqs: Vec<u64>,
    /// What chose it: the option's name.
    pub chosen_by: &'static str,
}

/// The records that a compaction appended, by seq.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The bracket's id.
    pub compaction_id: String,
    /// `compaction/start`.
    pub start_seq: u64,
    /// `compaction/summary`, where the region was replaced.
    pub summary_seq: Option<u64>,
    /// The replacing `user/message`.
    pub checkpoint_seq: Option<u64>,
    /// `compaction/end`, with an error where nothing was replaced; `None`: the bracket is left open.
    pub end_seq: Option<u64>,
}

/// Who made the summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummarizedBy {
    /// The summarizer's kind.
    pub kind: &'static str,
    /// Provider, as in the log.
    pub provider: String,
    /// Model, as in the log.
    pub model: String,
    /// How often it was asked.
    pub calls: u64,
    /// The tokens of all calls, where the model told.
    pub usage: Option<Usage>,
    /// What of the region it names, once it is known to do.
    pub recall: Option<Recall>,
}

/// One compaction, done or tried: a region and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pass {
    /// The region.
    pub region: Option<Region>,
    /// The records appended.
    pub appended: Option<Appended>,
    /// Who made the summary.
    pub summarizer: Option<SummarizedBy>,
    /// Host tokens of the region.
    pub shadowed: Option<u64>,
    /// Host tokens of the message that takes its place.
    pub checkpoint: Option<u64>,
    /// The same figures in exact tokens, where they were asked for.
    pub tokens: Option<ExactTokens>,
    /// What the prompt cache loses.
    pub cache: Option<Cache>,
    /// How the task will be visible.
    pub(super) task: Option<TaskVisibility>,
}

impl Pass {
    /// Whether it came to nothing.
    pub(super) fn is_failed(&self) -> bool {
        self.checkpoint.is_none()
    }
}

/// Host tokens before and after (FORMAT §7.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostTokens {
    /// The surface as it was.
    pub before: u64,
    /// The surface as it is, or would be, now.
    pub after: Option<u64>,
}

/// What a provider's prompt cache loses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    /// Position on the surface, from 0, of the first message that is another.
    pub first_changed_position: usize,
    /// Host tokens of the messages behind it.
    pub host_tokens_after_it: u64,
}

/// All that is told about one log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The log.
    pub path: PathBuf,
    /// Where the result was written, if not to the log itself.
    pub output: Option<PathBuf>,
    /// The session's id, as far as the header could be read.
    pub session: Option<String>,
    /// The format version, as far as the header could be read.
    pub version: Option<u64>,
    /// What came of it.
    pub status: Status,
    /// Why nothing was replaced.
    pub reason: Option<Reason>,
    /// The tool results that were, or would be, made shorter first.
    pub pruned: Vec<Pruned>,
    /// The compactions, in their order: those that were done, or the one that was tried.
    pub passes: Vec<Pass>,
    /// How the task is visible, afterwards where something was replaced.
    pub task: Option<TaskVisibility>,
    /// Prices.
    pub host_tokens: HostTokens,
    /// The first and the last seq that was appended, if any was.
    pub appended: Option<(u64, u64)>,
    /// File length before and, where something was written, after, in bytes.
    pub bytes: (u64, Option<u64>),
    /// Remarks for people.
    pub notes: Vec<String>,
    /// What an earlier run made of it, so that it was spared.
    pub past: Option<Past>,
    /// What is mended first, to be told among the notes unless it is undone.
    pub(super) mended: Vec<String>,
}

impl Outcome {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            output: None,
            session: None,
            version: None,
            status: Status::NothingToDo,
            reason: None,
            pruned: Vec::new(),
            passes: Vec::new(),
            task: None,
            host_tokens: HostTokens::default(),
            appended: None,
            bytes: (0, None),
            notes: Vec::new(),
            past: None,
            mended: Vec::new(),
        }
    }

    /// A log that is refused before it is opened.
    #[must_use]
    pub fn refused(path: PathBuf, reason: Reason) -> Self {
        let mut outcome = Self::new(path);
        outcome.bytes.0 = outcome.path.metadata().map_or(0, |meta| meta.len());
        outcome.stop(Status::Refused, reason);
        outcome
    }

    /// A log that an earlier run has done: `past` is what came of it.
    #[must_use]
    pub fn spared(path: PathBuf, past: Past) -> Self {
        Self { status: Status::Skipped, past: Some(past), ..Self::new(path) }
    }

    /// What a journal is told of the log; `exit` is the exit code of a run over it alone.
    #[must_use]
    pub fn told(&self, exit: u8) -> Past {
        let pair = |before, after: Option<u64>| Some(Pair { before, after: after.unwrap_or(before) });
        Past {
            status: self.status.as_str().into(),
            exit,
            worst: None,
            reason: self.reason.as_ref().map(|reason| reason.code.into()),
            host_tokens: pair(self.host_tokens.before, self.host_tokens.after),
            bytes: pair(self.bytes.0, self.bytes.1),
        }
    }

    /// A log on which dshc itself failed.
    #[must_use]
    pub fn panicked(path: PathBuf, why: &str) -> Self {
        let mut outcome = Self::new(path);
        outcome.bytes.0 = outcome.path.metadata().map_or(0, |meta| meta.len());
        outcome.stop(Status::Failed, guard::panicked(why));
        outcome
    }

    /// Whether the run was interrupted before anything was written.
    #[must_use]
    pub fn was_not_begun(&self) -> bool {
        self.status == Status::Refused
            && self.reason.as_ref().is_some_and(|reason| reason.code == "cancelled")
    }

    /// The surface's host tokens before and after; the same where nothing was, or would be, changed.
    #[must_use]
    pub fn host_tokens_change(&self) -> (u64, u64) {
        let HostTokens { before, after } = self.host_tokens;
        (before, after.unwrap_or(before))
    }

    /// The file's bytes before and after; the same where nothing was written.
    #[must_use]
    pub fn bytes_change(&self) -> (u64, u64) {
        let (before, after) = self.bytes;
        (before, after.unwrap_or(before))
    }

    /// Takes what the log's header tells.
    pub(super) fn knows(&mut self, header: &Header) {
        self.session = Some(header.id.clone());
        self.version = Some(header.version);
    }

    /// Whether nothing has been replaced yet.
    pub(super) fn has_no_progress(&self) -> bool {
        self.pruned.is_empty() && self.passes.iter().all(Pass::is_failed)
    }

    /// Takes what the session is before anything is done.
    pub(super) fn starts_from(&mut self, session: &Session) {
        self.knows(&session.header);
        self.host_tokens.before = session.surface.host_tokens();
        self.task = Some(session.task_visibility());
    }

    /// Takes what has become of the session.
    pub(super) fn ends_with(&mut self, session: &Session) {
        self.host_tokens.after = Some(session.surface.host_tokens());
        self.task = Some(session.task_visibility());
    }

    /// What was written is gone.
    pub(super) fn forget_what_was_written(&mut self) {
        (self.pruned, self.mended, self.appended) = (Vec::new(), Vec::new(), None);
        (self.bytes.1, self.host_tokens.after) = (None, None);
        self.passes.iter_mut().for_each(|pass| pass.appended = None);
    }

    /// Leaves out notes that were made before, as those of one pass after another are.
    pub(super) fn say_everything_once(&mut self) {
        let mut said = HashSet::new();
        self.notes.retain(|note| said.insert(note.clone()));
    }

    pub(super) fn stop(&mut self, status: Status, reason: Reason) {
        self.status = status;
        self.reason = Some(reason);
    }
}
