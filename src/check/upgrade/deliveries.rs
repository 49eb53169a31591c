//! Marks of delivery, which upgrades hold to the session and the format (FORMAT §8.1, §8.3, §8.4).

use super::chain::Chain;
use super::here::{Here, refusal};
use crate::check::finding::Findings;
use crate::check::registry::rule_family;
use crate::check::wording::quoted;
use crate::json;
use crate::log::Header;

rule_family! {
    "upgrade";
    /// A mark of delivery of a format that the upgrade passes through names another session.
    ///
    /// **What it means.** A `session-log-deepseek/delivery-accepted` says up to which event a session was delivered. One
    /// that is not inherited names another session than the header does.
    ///
    /// **Why it matters.** The upgrade refuses the session: the mark cannot be about its events. dsh opens the log in
    /// its own format.
    ///
    /// **How it comes about.** The log was copied under a new id, or events were copied from another log.
    ///
    /// **What to do.** Compare with the log that the mark names. Where the session was copied on purpose, the marks can
    /// be left out of a copy once its numbers are dense again; delivery then begins anew.
    SESSION = error("upgrade-delivery-session");
    /// A mark of delivery claims the format that the upgrade leads to.
    ///
    /// **What it means.** The mark says that it counts events as a later format numbers them. In a log of this format no
    /// such mark can have been written.
    ///
    /// **Why it matters.** After the upgrade the mark would be taken for a true one, so the upgrade refuses the session.
    /// dsh opens the log in its own format.
    ///
    /// **How it comes about.** Events of an upgraded log were copied back into the older one, or another tool wrote the
    /// mark.
    ///
    /// **What to do.** Use the upgraded log, if there is one. Else leave the mark out of a copy once its numbers are
    /// dense again.
    CLAIM = error("upgrade-delivery-claim");
}

/// What marks may say.
#[derive(Debug)]
pub(super) struct Deliveries {
    chain: Chain,
    id: String,
    has_parent: bool,
    /// Events before this one are inherited for certain.
    cut: u64,
    /// The rules between events look at marks of the log's own format.
    own_is_checked: bool,
    /// What is wrong unless a boundary shows later that its event was inherited.
    held: Findings,
}

impl Deliveries {
    pub(super) fn new(chain: &Chain, header: &Header, own_is_checked: bool) -> Self {
        Self {
            chain: *chain,
            id: header.id.clone(),
            has_parent: header.parent_session.is_some(),
            cut: header.seed_length.unwrap_or(0),
            own_is_checked,
            held: Findings::default(),
        }
    }

    /// Looks at an event. Tells whether it is a mark that no payload can make good.
    pub(super) fn event(&mut self, here: &mut Here) -> bool {
        if here.is("session-log-deepseek/delivery-accepted") {
            return self.mark(here);
        }
        if here.is("session/end-seed")
            && here.payload.get().and_then(|data| data.get("inherited")).is_some_and(json::is_true)
        {
            self.held = Findings::default();
        }
        false
    }

    pub(super) fn finish(&mut self, findings: &mut Findings) {
        findings.extend(std::mem::take(&mut self.held).sorted());
    }

    fn mark(&mut self, here: &mut Here) -> bool {
        let Some(data) = here.payload.get() else { return false };
        let version = data.get("sessionFormatVersion");
        let Some(version) = version.map_or(Some(0), json::count) else { return false };
        if let Some(to) = self.chain.first(|step| step.bars_claims && step.to == version) {
            let what = format!("a mark of delivery that claims format {version}");
            let help = "a log of an earlier format can hold no such mark; it was copied from an upgraded one";
            here.refuse(&CLAIM, to, &what, help);
            return true;
        }
        let Some(to) = self.judged_by(version) else { return false };
        let session = data.text("sessionId");
        let is_own = session.as_ref().is_some_and(|session| session.to_str() == self.id);
        if is_own || (self.has_parent && here.event.seq < self.cut) {
            return false;
        }
        let named = session.map_or_else(|| "none".to_owned(), |session| quoted(&session.to_str()));
        let what = format!("a mark of delivery that names session {named}, this one is {}", quoted(&self.id));
        let help = "the mark was copied with events of another session";
        // Without a parent nothing excuses it.
        let findings = if self.has_parent { &mut self.held } else { &mut *here.findings };
        findings.push(refusal(&SESSION, (here.event.seq, here.place), to, &what, help));
        false
    }

    /// The format into which the step leads that looks at marks of format `version`; `None` if no step does, or if they
    /// are looked at elsewhere.
    fn judged_by(&self, version: u64) -> Option<u64> {
        let own = self.chain.from().version;
        if version < own || (version == own && self.own_is_checked) {
            return None;
        }
        // A step looks at marks of the format that it leads from, and a result at those of its own, if it is looked at.
        let from = version.checked_add(1)?;
        let leads_from = self.chain.steps().find(|step| step.to == from);
        let leads_to = self.chain.steps().find(|step| step.to == version && step.relations.is_some());
        leads_from.or(leads_to).map(|step| step.to)
    }
}
