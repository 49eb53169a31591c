//! An earlier summary among the facts: bullets in this summarizer's own wording are counted on, others are kept
//! as they stand.

use super::earlier;
use super::facts::Facts;
use super::lines::{CONTEXT, ENTRIES, FIXED, IDS, LANGUAGES, LAST_FAILED, NAMES, PROGRAMS, RAN, SEEN};
use super::tally::Tally;
use super::text::without_marks;

/// What an identifier of an earlier summary is worth: as much as one that was said.
const WORTH: u64 = 2;

impl Facts {
    /// Takes in the bullets of an earlier summary.
    pub(super) fn merge(&mut self, summary: &str) {
        for (section, bullets) in earlier::bullets(summary).into_iter().enumerate() {
            for bullet in bullets {
                self.merge_bullet(section, &bullet);
            }
        }
    }

    fn merge_bullet(&mut self, section: usize, bullet: &str) {
        let taken = match section {
            0 => self.prompts.slot_of_cut(bullet).is_some(),
            1 => self.merge_concept(bullet).is_some(),
            2 => self.merge_file(bullet).is_some(),
            3 => self.merge_failure(bullet).is_some(),
            4 => self.merge_job(bullet).is_some(),
            7 => self.merge_context(bullet).is_some(),
            _ => false,
        };
        if let Some(tally) = self.earlier.get_mut(section).filter(|_| !taken) {
            tally.slot_of_cut(bullet);
        }
    }

    fn merge_concept(&mut self, bullet: &str) -> Option<()> {
        if let Some(list) = bullet.strip_prefix(LANGUAGES) {
            count_list(&mut self.languages, list);
        } else if let Some(list) = bullet.strip_prefix(PROGRAMS) {
            count_list(&mut self.programs, list);
        } else {
            let (calls, errors) = match bullet.split_once(", ") {
                Some((calls, errors)) => {
                    (calls, errors.trim_end_matches('s').strip_suffix(" error")?.parse().ok()?)
                }
                None => (bullet, 0),
            };
            let (tool, calls) = counted(calls).filter(|(tool, _)| !tool.contains(' '))?;
            let used = self.tools.slot(tool)?;
            used.calls = used.calls.saturating_add(calls);
            used.errors = used.errors.saturating_add(errors);
        }
        Some(())
    }

    /// `` `src/a.rs` ×3 (edit, read)`` or `` `src/b.rs` seen ×2``.
    fn merge_file(&mut self, bullet: &str) -> Option<()> {
        let (path, rest) = bullet.strip_prefix('`')?.split_once('`')?;
        if let Some(seen) = rest.strip_prefix(SEEN) {
            let seen: u64 = seen.parse().ok()?;
            let file = self.files.slot(path)?;
            file.seen = file.seen.saturating_add(seen);
            return Some(());
        }
        let (count, tools) = match rest.strip_suffix(')') {
            Some(rest) => rest.split_once(" (")?,
            None => (rest, ""),
        };
        let uses: u64 = if count.is_empty() { 1 } else { count.strip_prefix(" ×")?.parse().ok()? };
        if tools.split(", ").any(|tool| tool.contains(' ')) {
            return None;
        }
        let file = self.files.slot(path)?;
        file.uses = file.uses.saturating_add(uses);
        for tool in tools.split(", ").filter(|tool| !tool.is_empty()) {
            if file.tools.len() < 4 && !file.tools.iter().any(|known| known == tool) {
                file.tools.push(tool.to_owned());
            }
        }
        Some(())
    }

    fn merge_failure(&mut self, bullet: &str) -> Option<()> {
        let fixed_at = bullet.rfind(FIXED).filter(|_| bullet.ends_with(')')).unwrap_or(bullet.len());
        let (rest, fixed) = bullet.split_at_checked(fixed_at)?;
        let (rest, count) = counted(rest).unwrap_or((rest, 1));
        let (line, subject) =
            rest.strip_suffix('`').and_then(|rest| rest.rsplit_once(" in `")).unwrap_or((rest, ""));
        let failure = self.failures.slot_of_cut(line)?;
        failure.count = failure.count.saturating_add(count);
        subject.clone_into(&mut failure.subject);
        failure.fixed = Some(fixed.to_owned()).filter(|fixed| !fixed.is_empty());
        Some(())
    }

    fn merge_job(&mut self, bullet: &str) -> Option<()> {
        let job = bullet.strip_prefix("[ ]").unwrap_or(bullet).trim_start();
        self.jobs.slot_of_cut(job).map(|_| ())
    }

    fn merge_context(&mut self, bullet: &str) -> Option<()> {
        if let Some(list) = bullet.strip_prefix(IDS) {
            list.split(", ").for_each(|id| self.ids.count(id, WORTH));
        } else if let Some(list) = bullet.strip_prefix(NAMES) {
            list.split(", ").for_each(|name| self.names.count(name, WORTH));
        } else if let Some(list) = bullet.strip_prefix(ENTRIES) {
            for (label, count) in list.split(", ").filter_map(|item| item.split_once(' ')) {
                self.counts.count(label, count.parse().unwrap_or(0));
            }
        } else if let Some(rest) = bullet.strip_prefix(CONTEXT) {
            let (source, first_line) = rest.split_once(": ").unwrap_or((rest, ""));
            let (source, count) = counted(source)?;
            let injected = self.contexts.slot(source)?;
            injected.count = injected.count.saturating_add(count);
            without_marks(first_line).clone_into(&mut injected.first_line);
        } else {
            let (command, rest) = bullet.strip_prefix(RAN)?.rsplit_once('`')?;
            let (count, last_failed) =
                rest.strip_suffix(LAST_FAILED).map_or((rest, false), |count| (count, true));
            let count: u64 = if count.is_empty() { 1 } else { count.strip_prefix(" ×")?.parse().ok()? };
            let run = self.runs.slot_of_cut(command)?;
            run.count = run.count.saturating_add(count);
            run.is_command = true;
            run.last_failed = last_failed;
        }
        Some(())
    }
}

/// `name ×3` taken apart.
fn counted(text: &str) -> Option<(&str, u64)> {
    let (name, count) = text.rsplit_once(" ×")?;
    count.parse().ok().map(|count| (name, count))
}

fn count_list(tally: &mut Tally<u64>, list: &str) {
    list.split(", ").filter_map(counted).for_each(|(name, count)| tally.count(name, count));
}
