//! What a log is called.

use super::super::Finding;
use super::super::registry::rule_family;
use super::Tenant;
use crate::log::layout::file_name;
use crate::log::place::LogName;
use crate::log::{Container, Place};
use std::path::Path;

rule_family! {
    "places";
    /// Older generations of the session lie beside the log; nothing reads them.
    ///
    /// **What it means.** The directory holds logs of lower format versions beside the one that was checked,
    /// such as `session.jsonl` beside `session.v3.jsonl`. The highest version stands for the session; the
    /// others are not checked.
    ///
    /// **Why it matters.** dsh of the newer line reads the highest alone and never merges. A dsh from before
    /// upgrades, though, sees only the log of format 0, and goes on in it without a word: then two histories
    /// grow.
    ///
    /// **How it comes about.** dsh upgraded the session. It writes a new file for that and leaves the old one
    /// as it is, for ever.
    ///
    /// **What to do.** Nothing needs to be done. The older file is a backup of the time before the upgrade;
    /// it can be checked by its own name. Before a downgrade of dsh know that it will work in the old file.
    OLDER_GENERATIONS = note("older-generations");
    /// The log's name promises another format version than its header tells.
    ///
    /// **What it means.** `session.jsonl` is the name of format 0, `session.vN.jsonl` that of format N. The
    /// header, which alone decides how the log is read here, names another version.
    ///
    /// **Why it matters.** dsh from format 1 on refuses a log whose name and header differ. It takes the
    /// highest number of a directory all the same, so that a good older log beside it is not opened either.
    ///
    /// **How it comes about.** A log was renamed by hand to make a reader look at it. Or a header was edited
    /// to get past a reader that is too old.
    ///
    /// **What to do.** Copy the log to the name that its header asks for, which the help names, if no other
    /// log of the session has that name. Do not change the version in the header: the events behind it are
    /// spelt as their format has it.
    NAME_VERSION = error("name-version");
    /// A log's name promises another encoding than its bytes have.
    ///
    /// **What it means.** A name with `.zstd` holds plain text, or one without it holds Zstandard frames.
    /// dshc goes by the bytes and reads the log as it is.
    ///
    /// **Why it matters.** dsh goes by the name. It looks for frames in the text, or for a header line in the
    /// frames, finds none and refuses the log.
    ///
    /// **How it comes about.** The file was compressed or unpacked in place without changing its name. Backup
    /// programs do that, and shell commands that write to the old name.
    ///
    /// **What to do.** Rename the file to what the help says, or give it the encoding that its name promises
    /// from a copy. A log that was compressed by `zstd` in one piece is not yet fit for dsh, which wants the
    /// header in a frame of its own: `verify` tells that then.
    NAME_ENCODING = error("name-encoding");
    /// A log lies directly in a project directory, which makes dsh refuse the root.
    ///
    /// **What it means.** Below a root each project has a directory, and in it each session one of its own,
    /// in which the log lies. This file has a log's ending and lies a level too high.
    ///
    /// **Why it matters.** dsh takes it for a layout that it does not support, and refuses the whole root for
    /// it, whatever the file holds. No session of the root is listed or opened while it lies there.
    ///
    /// **How it comes about.** A log was copied next to the sessions, as a backup or to be shown to somebody.
    /// Or it was unpacked from an archive without its directory.
    ///
    /// **What to do.** Move it out of the root, or into a session directory under a canonical name, as the
    /// header's id asks for. A copy that is only to be kept is best outside `sessions`.
    FLAT_FILE = error("flat-file");
}

/// Looks at the log's own name and at those beside it.
pub(super) fn check(tenant: &Tenant) -> Vec<Finding> {
    let Tenant { log, folder } = tenant;
    let older = folder.older_told(log.path).map(|told| {
        Finding::new(&OLDER_GENERATIONS, Place::default(), told).with_help(
            "nothing needs to be done: dsh leaves them when it upgrades a log, and merges none of them",
        )
    });
    let promised = folder.name.generation;
    let other = log.version.filter(|version| *version != promised).map(|version| {
        let name = file_name(log.path);
        let message = format!("by its name {name} is of format {promised}, by its header of format {version}");
        let wanted = LogName { generation: version, ..folder.name };
        let help = format!(
            "dsh refuses it under this name; by its header it is to be called {wanted}: copy it there if no other log \
             of the session has that name"
        );
        Finding::new(&NAME_VERSION, Place::default(), message).with_help(help)
    });
    let promised = if folder.name.is_zstd { Container::Zstd } else { Container::Raw };
    let content = log.content.filter(|content| *content != promised).map(|_| {
        let name = file_name(log.path);
        let (is, is_not) = if folder.name.is_zstd { ("raw", "compressed") } else { ("compressed", "raw") };
        let message = format!("by its name {name} is {is_not}, and its bytes are {is}");
        let wanted = LogName { is_zstd: !folder.name.is_zstd, ..folder.name };
        let help = format!("dsh refuses it under this name; by its bytes it is to be called {wanted}");
        Finding::new(&NAME_ENCODING, Place::default(), message).with_help(help)
    });
    older.into_iter().chain(other).chain(content).collect()
}

/// A file where dsh wants none.
pub(super) fn flat(log: &Path) -> Finding {
    let project = log.parent().map(file_name).unwrap_or_default();
    let message = format!(
        "{} lies directly in the project directory {project}, beside the session directories",
        file_name(log)
    );
    let help = "dsh refuses the whole root because of it; move it out of the root, or into a session directory of \
                its own under a canonical name";
    Finding::new(&FLAT_FILE, Place::default(), message).with_help(help)
}
