//! Whether a log lies where its header says, and no other session claims its id (FORMAT §1.3).

use super::super::Finding;
use super::super::registry::rule_family;
use super::super::wording::{quoted, short_list};
use super::Tenant;
use crate::log::layout::SessionFolder;
use crate::log::place::is_project_key;
use crate::log::{Header, Place};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

rule_family! {
    "places";
    /// Logs in several project directories of a root have the same session id.
    ///
    /// **What it means.** The directory of a session is named by its id. The same id was found under more
    /// than one project; the finding lists the other logs. Generations of one session in one directory are
    /// not meant.
    ///
    /// **Why it matters.** dsh refuses to list the sessions of the root and to open this one, since it cannot
    /// know which is meant. Sessions with other ids cannot be listed either while both lie there.
    ///
    /// **How it comes about.** A project was moved or renamed and its sessions were copied along. Or a
    /// session was copied to go on with it in another directory.
    ///
    /// **What to do.** Compare the logs: most often one is a prefix of the other. Keep one in the project
    /// that its header's `cwd` names, and move the others out of the root. A session that is to go on under
    /// another project must be forked by dsh, which gives it an id.
    DUPLICATE_SESSION_ID = error("duplicate-session-id");
    /// The log lies in other directories than its header's id and cwd name.
    ///
    /// **What it means.** The project's directory is made from the header's `cwd`, the session's from its
    /// `id`. By these the log belongs elsewhere. It is told only where all project directories of the root
    /// have names that dsh could have given, and as a note, for archives are often sorted in another way.
    ///
    /// **Why it matters.** dsh refuses to list the sessions of a root with such a log, and to open this one,
    /// unless a link at the right place leads to it. One such log hides all sessions of the root from the
    /// list.
    ///
    /// **How it comes about.** The project directory was renamed by hand after the project had moved, or logs
    /// were gathered under names of their own. The naming is lossy: two paths may share a project directory,
    /// and that is no breach.
    ///
    /// **What to do.** In an archive nothing. Where dsh is to open it, put the log where the finding says.
    /// The `cwd` in the header tells where the session was at work; do not change it to fit the place.
    HEADER_PATH = note("header-path");
}

/// Which sessions a root's logs say they are.
#[derive(Debug, Default)]
pub(super) struct Identities<'a> {
    /// By the directory name that stands for the id, which keeps apart what a lossy id would not.
    logs: BTreeMap<&'a str, BTreeSet<(Option<&'a OsStr>, &'a Path)>>,
    /// Whether dsh may have named all directories that hold sessions.
    are_keys: bool,
}

impl<'a> Identities<'a> {
    pub(super) fn of(tenants: &[Tenant<'a>]) -> Self {
        let is_key =
            |folder: &SessionFolder| folder.project().and_then(OsStr::to_str).is_some_and(is_project_key);
        let mut identities =
            Self { are_keys: tenants.iter().all(|tenant| is_key(tenant.folder)), ..Self::default() };
        for Tenant { log, folder } in tenants {
            if let Some(address) = log.header.and_then(|header| header.address.as_ref()) {
                let logs = identities.logs.entry(&address.session).or_default();
                logs.insert((folder.project(), log.path));
            }
        }
        identities
    }

    pub(super) fn check(&self, tenant: &Tenant) -> Vec<Finding> {
        let Some(header) = tenant.log.header else { return Vec::new() };
        [self.duplicate(tenant, header), self.misplaced(tenant, header)].into_iter().flatten().collect()
    }

    fn duplicate(&self, tenant: &Tenant, header: &Header) -> Option<Finding> {
        let logs = self.logs.get(&*header.address.as_ref()?.session)?;
        let here = tenant.folder.project();
        let others: Vec<_> =
            logs.iter().filter(|(project, _)| *project != here).map(|(_, path)| path.display()).collect();
        if others.is_empty() {
            return None;
        }
        let message = format!(
            "session id {} stands in other project directories of this root too: {}",
            quoted(&header.id),
            short_list(others.iter())
        );
        let help = "dsh refuses to list the root's sessions and to open this one; keep one of them, and move the others out";
        Some(Finding::new(&DUPLICATE_SESSION_ID, Place::default(), message).with_help(help))
    }

    fn misplaced(&self, tenant: &Tenant, header: &Header) -> Option<Finding> {
        let Tenant { log, folder } = tenant;
        if !self.are_keys {
            return None;
        }
        let message = match &header.address {
            Some(address) if folder.is_at(log.path, address) => return None,
            Some(address) => {
                let name = |name: Option<&OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
                let cwd =
                    header.cwd.as_ref().map_or_else(|| "no cwd".into(), |cwd| format!("cwd {}", quoted(cwd)));
                format!(
                    "the header's id {} and {cwd} name {address} below the root; the log lies in {}/{}",
                    quoted(&header.id),
                    name(folder.project()),
                    name(folder.session())
                )
            }
            None => "the header's id is empty, which names no directory".to_owned(),
        };
        let help = "dsh refuses to list the sessions of a root with such a log, and to open this one; the log must \
                    lie where its header says, or a link there must lead to it";
        Some(Finding::new(&HEADER_PATH, Place::default(), message).with_help(help))
    }
}
