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
    OLDER_GENERATIONS = note("older-generations");
    /// The log's name promises another format version than its header tells.
    NAME_VERSION = error("name-version");
    /// A log's name promises another encoding than its bytes have.
    NAME_ENCODING = error("name-encoding");
    /// A log lies directly in a project directory, which makes dsh refuse the root.
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
