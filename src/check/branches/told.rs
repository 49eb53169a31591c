//! What is said of forks and of their branches.

use super::{Branch, Branches, Fork};
use crate::check::Finding;
use crate::check::numbering::SEQ_FORK;
use crate::check::wording::{amount, span};

/// How many records of a branch are named.
const MOST_NAMED: usize = 6;

/// How many stretches of lines and of missing seqs are named.
const MOST_STRETCHES: usize = 64;

const STOPS: &str = "the surface, pairing, brackets and locks are not checked from here on";

impl Branches {
    /// One finding for each fork.
    pub(in crate::check) fn findings(&self) -> impl Iterator<Item = Finding> {
        self.forks.iter().map(|fork| self.finding(fork))
    }

    fn finding(&self, fork: &Fork) -> Finding {
        let repeat = fork.repeat;
        let line = repeat.place.line.map(|line| format!("line {line}"));
        let who = match (line, repeat.row) {
            (line, Some(members)) => {
                let last = repeat.found.saturating_add(members.saturating_sub(1));
                let row = format!(
                    "a packed row of {} ({}), which counts as one unit, carries ",
                    amount(members, "event"),
                    span("seq", repeat.found, last)
                );
                line.map_or_else(|| row.clone(), |line| format!("{line}, {row}"))
            }
            (Some(line), None) => format!("{line} carries "),
            (None, None) => String::new(),
        };
        let count = match fork.branches.len() as u64 + fork.more {
            2 => "two histories".to_owned(),
            count => format!("{count} histories"),
        };
        let branches: Vec<(String, &Branch)> = ('A'..)
            .zip(&fork.branches)
            .filter_map(|(name, at)| Some((self.told(name, *at)?, self.all.get(*at)?)))
            .collect();
        let told: Vec<&str> = branches.iter().map(|(told, _)| told.as_str()).collect();
        let message = format!(
            "{who}seq {} where {} was expected: the log holds {count} from seq {}{}; {}; {}",
            repeat.found,
            repeat.expected,
            fork.seq,
            self.within(fork).unwrap_or_default(),
            told.join("; "),
            self.advice(fork)
        );
        let goes_on = fork.goes_on.map(|(seq, line)| {
            let what = line.map_or_else(|| "the log".to_owned(), |line| format!("line {line}"));
            format!("; the branches end before seq {seq}, and {what} goes on behind each of them")
        });
        let message = format!("{message}{}; {STOPS}", goes_on.unwrap_or_default());
        let help = "two programs had the session at once: copy the file, keep one branch, and take out the lines of the others";
        let finding = Finding::new(&SEQ_FORK, repeat.place, message).at_seq(repeat.found).with_help(help);
        branches.into_iter().fold(finding, |finding, (told, branch)| finding.relating(branch.first_seq, told))
    }

    /// In which branch of another fork this one lies.
    fn within(&self, fork: &Fork) -> Option<String> {
        let mut at = self.all.get(*fork.branches.first()?)?.parent?;
        loop {
            let branch = self.all.get(at)?;
            // Behind a fork that is over all its branches go on alike.
            let outer = branch.fork.and_then(|outer| self.forks.get(outer));
            if let Some(outer) = outer.filter(|outer| outer.goes_on.is_none_or(|(seq, _)| seq > fork.seq)) {
                let name = ('A'..).zip(&outer.branches).find(|(_, of_outer)| **of_outer == at)?.0;
                let line = outer.repeat.place.line.map(|line| format!(" at line {line}")).unwrap_or_default();
                return Some(format!(", within branch {name} of the fork{line}"));
            }
            at = branch.parent?;
        }
    }

    /// Which branch can be kept without a loss.
    fn advice(&self, fork: &Fork) -> String {
        let names = |is_synthetic: bool| {
            let named = ('A'..).zip(&fork.branches).filter(|(_, at)| self.is_synthetic(**at) == is_synthetic);
            named.map(|(name, _)| name.to_string()).collect::<Vec<_>>()
        };
        let (work, synthetic) = (names(false), names(true));
        match (work.as_slice(), synthetic.len(), fork.more) {
            ([], _, 0) => "none of them holds real work, so any may be kept".to_owned(),
            ([one], 1.., 0) => {
                format!("keeping branch {one} loses no real work, since the others are entirely synthetic")
            }
            (work, _, 0) => {
                format!(
                    "branches {} each hold real work: keeping one loses that of the others",
                    work.join(" and ")
                )
            }
            (_, _, more) => format!("{more} more branches are not told apart here"),
        }
    }

    /// Whether dsh wrote all of a branch by itself, with what stands behind it alone.
    fn is_synthetic(&self, at: usize) -> bool {
        self.all.get(at).is_none_or(|branch| branch.trail.is_synthetic())
            && self
                .forks_behind(at)
                .flat_map(|fork| &fork.branches)
                .all(|behind| self.all.get(*behind).is_none_or(|branch| branch.trail.is_synthetic()))
    }

    /// The forks behind a branch, of which nothing is left without it.
    fn forks_behind(&self, at: usize) -> impl Iterator<Item = &Fork> {
        let over = self.all.get(at).and_then(|branch| self.forks.get(branch.fork?)?.goes_on);
        self.forks.iter().filter(move |fork| {
            let mut parent = fork.branches.first().and_then(|first| self.all.get(*first)?.parent);
            while let Some(this) = parent.filter(|this| *this != at) {
                parent = self.all.get(this).and_then(|branch| branch.parent);
            }
            parent.is_some() && over.is_none_or(|(seq, _)| fork.seq < seq)
        })
    }

    fn told(&self, name: char, at: usize) -> Option<String> {
        let branch = self.all.get(at)?;
        let behind: Vec<String> = self
            .forks_behind(at)
            .filter_map(|fork| Some(format!("line {}", fork.repeat.place.line?)))
            .collect();
        let behind = match behind.as_slice() {
            [] => String::new(),
            lines => format!(", and behind it the branches told at {}", lines.join(" and ")),
        };
        Some(format!("branch {name}: {}{behind}", branch.told(self.is_synthetic(at))))
    }
}

impl Branch {
    fn told(&self, is_synthetic: bool) -> String {
        let whats = self.trail.told(MOST_NAMED);
        let rest = self.trail.count().saturating_sub(whats.len() as u64);
        let more = if rest > 0 { format!(", and {} more", amount(rest, "record")) } else { String::new() };
        if whats.is_empty() && rest == 0 {
            return format!("{}{} (no record of it is there)", self.seqs(), self.missing());
        }
        let kind = if is_synthetic { "entirely synthetic: " } else { "real work: " };
        format!("{}{}{} ({kind}{}{more})", self.lines(), self.seqs(), self.missing(), whats.join(", "))
    }

    fn lines(&self) -> String {
        match self.trail.lines() {
            (_, lines) if lines.is_empty() => String::new(),
            (true, lines) => format!("{}, ", spans("line", &lines)),
            (false, lines) => format!("up to line {}, ", lines.last().map_or(0, |(_, last)| *last)),
        }
    }

    fn seqs(&self) -> String {
        let last = self.next_seq.saturating_sub(1);
        let first = self.trail.seqs().map_or(self.first_seq, |(first, _)| first);
        span("seq", first, last)
    }

    fn missing(&self) -> String {
        let missing: Vec<(u64, u64)> = self
            .trail
            .missing(self.first_seq, self.next_seq)
            .map(|(from, to)| (from, to.saturating_sub(1)))
            .collect();
        match missing.as_slice() {
            [] => String::new(),
            [(one, last)] if one == last => format!(", of which seq {one} is missing"),
            missing => format!(", of which {} are missing", spans("seq", missing)),
        }
    }
}

/// `line 3`, `lines 3 to 5`, `lines 3, 5 to 7 and 9`.
fn spans(what: &str, all: &[(u64, u64)]) -> String {
    let told = |(first, last): &(u64, u64)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    };
    let plural = if matches!(all, [(first, last)] if first == last) { "" } else { "s" };
    let mut named: Vec<String> = all.iter().take(MOST_STRETCHES).map(told).collect();
    let more = all.len() - named.len();
    let last = if more > 0 { Some(format!("{more} more stretches")) } else { named.pop() };
    let last = last.unwrap_or_default();
    if named.is_empty() {
        format!("{what}{plural} {last}")
    } else {
        format!("{what}{plural} {} and {last}", named.join(", "))
    }
}
