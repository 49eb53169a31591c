//! Logs that cannot be opened at all, so that no other rule is asked (FORMAT §2, §3).

use super::Finding;
use super::registry::{Rule, rule_family};
use crate::log::{OpenError, Place};

rule_family! {
    "opening";
    /// A file cannot be read.
    ///
    /// **What it means.** The file system refused to open or read the file, or a directory stands under a
    /// log's name. The message is that of the system. Nothing is known of what the log holds.
    ///
    /// **Why it matters.** dsh cannot open such a session either. In a run over many logs the others are
    /// checked all the same, and the exit code is 3.
    ///
    /// **How it comes about.** dsh makes logs readable by their owner alone, and the file belongs to another
    /// user. A disk that fails, a network folder that is gone, or a path that was mistyped are the other
    /// common causes.
    ///
    /// **What to do.** Check the path and your rights. With a failing disk, copy what can be read and check
    /// the copy. A directory under a log's name needs another name. The rule
    /// cannot be set with `--rule`.
    IO = error("io");
    /// A file is empty.
    ///
    /// **What it means.** The file has no bytes at all. A log starts with a header line, and dsh writes that
    /// together with the first events, so it never leaves an empty one by itself.
    ///
    /// **Why it matters.** There is no session in it, not even an id but for the directory's name. dsh leaves
    /// it out of its list or refuses it.
    ///
    /// **How it comes about.** A disk was full, a copy or a sync was interrupted. Or the data had not reached
    /// the disk when the machine crashed.
    ///
    /// **What to do.** Look for the session in a backup; the directory's name tells its id. If there is none,
    /// move the file out of the root. It holds nothing to save. The rule
    /// cannot be set with `--rule`.
    EMPTY = error("empty-file");
    /// A file holds no whole header line.
    ///
    /// **What it means.** The file ends inside its first line, or, compressed, inside its first frame. No
    /// event stands behind it.
    ///
    /// **Why it matters.** Without the header neither format nor id of the session is known, and dsh refuses
    /// the file. It is no torn tail, which only ever concerns what stands behind a whole header.
    ///
    /// **How it comes about.** The file was cut very near its beginning. A transfer that was interrupted or a
    /// full disk leaves it so.
    ///
    /// **What to do.** Restore it from a copy. What is left of the line may still show the id and the
    /// project; write them down before you remove it. The rule
    /// cannot be set with `--rule`.
    NO_HEADER = error("no-header");
    /// A file does not begin with the header of a log.
    ///
    /// **What it means.** The first line is no JSON, or no object whose `type` is `"session"`; or the first
    /// frame holds no such line. So nothing says that this is a session of dsh.
    ///
    /// **Why it matters.** No reader can take the rest for events. dsh refuses it, and its list of sessions
    /// leaves it out without a word.
    ///
    /// **How it comes about.** Most often it is another file under a log's name, such as an export or a log
    /// of another agent. A log whose beginning was overwritten, or from which the first lines were cut, looks
    /// the same.
    ///
    /// **What to do.** Name the `session.jsonl` or `session.jsonl.zstd` of dsh. If it ought to be one, look
    /// whether its first line holds the header; restored from a copy, or from how dsh wrote it, the rest can
    /// be checked again. The rule
    /// cannot be set with `--rule`.
    NOT_A_LOG = error("not-a-log");
    /// A header is not of the shape that its format has.
    ///
    /// **What it means.** The first line is a header of a known version, but a member is missing, of another
    /// kind, or not of this format; the message says which. The header of formats 0 and 1 counts inherited
    /// events in `seedLength`, that of the others says `isSeeded`. Members that no format has are passed over
    /// in format 0 alone.
    ///
    /// **Why it matters.** dsh refuses the whole log for its first line. None of the events is looked at here
    /// either, for what they mean depends on the header.
    ///
    /// **How it comes about.** A tool added a member of its own, such as tags for an archive, or removed
    /// `delegationDepth`. `sandboxMode` and `approvalPolicy` were retired before the first release.
    ///
    /// **What to do.** Restore the first line from a copy, or from how dsh wrote it. Keep your own data in a
    /// file beside the log. In a compressed log the header must stay in a frame of its own. The rule
    /// cannot be set with `--rule`.
    HEADER = error("invalid-header");
    /// A log is of a format that dshc does not know.
    ///
    /// **What it means.** The header's `version` is one that no table of this dshc describes. Nothing is
    /// wrong with the log, and nothing of it was checked. Members of the header that no known format has are
    /// named, since they hint at who wrote it.
    ///
    /// **Why it matters.** Another version may mean other rules for everything: a check by those of a known
    /// one would tell nonsense. dsh refuses formats that are newer than its own, too.
    ///
    /// **How it comes about.** A newer dsh wrote the log. Or a private fork did, whose numbers mean whatever
    /// it likes.
    ///
    /// **What to do.** Look for a newer dshc, or open the log with the program that wrote it. `dshc replay
    /// --allow-unknown` reads the log as if it were of the newest known format and shows what can be
    /// understood. Do not change the number in the header. The rule
    /// cannot be set with `--rule`.
    UNSUPPORTED = error("unsupported-format");
}

/// What is to be said of a log that cannot be opened.
#[must_use]
pub fn unreadable(error: &OpenError) -> Finding {
    Finding::new(rule_of(error), Place::default(), error.to_string()).with_help(error.help())
}

fn rule_of(error: &OpenError) -> &'static Rule {
    match error {
        OpenError::Io(_) => &IO,
        OpenError::Empty => &EMPTY,
        OpenError::NoHeader(_) => &NO_HEADER,
        OpenError::NotALog(_) => &NOT_A_LOG,
        OpenError::Header(_) => &HEADER,
        OpenError::Version { .. } => &UNSUPPORTED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_go_by_the_codes_of_the_errors() {
        for error in [OpenError::Empty, OpenError::Io(std::io::Error::other("x"))] {
            assert_eq!(unreadable(&error).code, error.code());
        }
    }
}
