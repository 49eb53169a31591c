//! One compaction of a log that is open: a plan, a summary, a transaction.

use super::job::Job;
use super::judge::{Judge, Judged};
use super::open_log::OpenLog;
use super::outcome::{Pass, SummarizedBy};
use super::plan::Plan;
use super::transaction::Transaction;
use super::{Reason, Stopped};
use crate::guard::cancelled;
use crate::summarize::SummarizeError;

impl Job<'_> {
    /// Plans, summarizes and commits one compaction, telling `pass` what is known on the way.
    pub(super) fn attempt(
        &self,
        log: &mut OpenLog,
        limit: Option<u64>,
        pass: &mut Pass,
        notes: &mut Vec<String>,
    ) -> Result<(), Stopped> {
        let is_free = self.services.summarizer.is_free();
        let plan = Plan::of(&log.folded.session, self.options, limit, pass, notes)?;
        let judge = Judge::of(&plan, &log.folded.session, self.options, !is_free);
        pass.tokens = judge.exact();
        let ready = if is_free {
            Some(self.summarize(&plan, &judge, pass).map_err(Stopped::Refused)?)
        } else {
            self.admit(&plan, &judge).map_err(Stopped::Refused)?;
            None
        };
        if self.only_plans() {
            return Ok(());
        }
        self.begin_writing(log)?;
        let judged = self.transact(&plan, &judge, ready, log, pass)?;
        judged.tell(pass, notes);
        pass.checkpoint = Some(judged.checkpoint.host_tokens(plan.placement.bracket.format));
        Ok(())
    }

    fn transact(
        &self,
        plan: &Plan,
        judge: &Judge,
        ready: Option<Judged>,
        log: &mut OpenLog,
        pass: &mut Pass,
    ) -> Result<Judged, Stopped> {
        let mut transaction = Transaction::begin(log, plan.placement.clone(), ready.is_none())?;
        let mut appended = transaction.appended();
        let made = match ready {
            Some(ready) => Ok(ready),
            None => self.summarize(plan, judge, pass),
        };
        let done = made.and_then(|judged| {
            if self.services.watch.is_cancelled() {
                return Err(cancelled());
            }
            transaction.commit(&judged.summary, &judged.checkpoint, &mut appended)?;
            Ok(judged)
        });
        let done = done.map_err(|reason| Stopped::Failed(transaction.fail(reason, &mut appended)));
        if !self.options.is_dry_run {
            pass.appended = Some(appended);
        }
        done
    }

    fn admit(&self, plan: &Plan, judge: &Judge) -> Result<(), Reason> {
        let objection = |text: &str| judge.objection(text);
        let request = plan.request(&objection, self.services.watch);
        judge.has_room()?;
        self.services.summarizer.admits(&request).map_err(reason_of)
    }

    fn summarize(&self, plan: &Plan, judge: &Judge, pass: &mut Pass) -> Result<Judged, Reason> {
        let objection = |text: &str| judge.objection(text);
        let request = plan.request(&objection, self.services.watch);
        let summary = self.services.summarizer.summarize(&request).map_err(reason_of)?;
        pass.summarizer = Some(SummarizedBy {
            kind: self.services.summarizer.kind(),
            provider: summary.provider.clone(),
            model: summary.model.clone(),
            calls: summary.calls,
            usage: summary.usage,
            recall: None,
        });
        judge.admit(summary)
    }
}

fn reason_of(error: SummarizeError) -> Reason {
    match error {
        SummarizeError::Unfit { message, help } | SummarizeError::Failed { message, help } => {
            Reason::new("summary", message, help)
        }
        SummarizeError::Cancelled => cancelled(),
    }
}
