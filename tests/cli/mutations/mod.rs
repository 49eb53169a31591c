//! Official logs with a few changes: what the official packages refuse, `dshc verify` reports as an error, and nothing else.
//!
//! By hand, `PROPTEST_CASES=20000 cargo test --release --test cli -- mutations` tries more, `DSHC_MUTATION_SEED=7` others;
//! `--nocapture` shows how often the verdicts agree.

mod kinds;
mod members;
mod mutant;
mod numbering;
mod reasons;
mod verdicts;

use crate::sandbox::{Sandbox, fixture};
use kinds::{KINDS, KINDS_TO_3, Kind, Side};
use mutant::{Base, Mutant, mutants};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use verdicts::{Ours, Theirs};

/// Official logs, and sound ones of which the official packages say so.
const LOGS: [&str; 33] = [
    "corpus/plain-zstd/--home-dev-project-0--/gen-11-0/session.jsonl.zstd",
    "corpus/plain-zstd/--home-dev-project-1--/gen-11-1/session.jsonl.zstd",
    "corpus/plain-zstd/--home-dev-project-2--/gen-11-2/session.jsonl.zstd",
    "corpus/compacted-zstd/--home-dev-project-1--/gen-12-1/session.jsonl.zstd",
    "corpus/compacted-raw/--home-dev-project-0--/gen-13-0/session.jsonl",
    "corpus/crashed-raw/--home-dev-project-0--/gen-14-0/session.jsonl",
    "corpus/crashed-raw/--home-dev-project-1--/gen-14-1/session.jsonl",
    "corpus/crashed-zstd/--home-dev-project-0--/gen-15-0/session.jsonl.zstd",
    "corpus/crashed-zstd/--home-dev-project-1--/gen-15-1/session.jsonl.zstd",
    "corpus/upgraded/v2/--home-dev-project-0--/gen-11-0/session.v2.jsonl",
    "corpus/upgraded/v2/--home-dev-project-0--/gen-14-0/session.v2.jsonl",
    "corpus/upgraded/v2/--home-dev-project-1--/gen-16-1/session.v2.jsonl",
    "corpus/upgraded/v3/--home-dev-project-0--/gen-11-0/session.v3.jsonl",
    "corpus/upgraded/v3/--home-dev-project-0--/gen-14-0/session.v3.jsonl",
    "corpus/upgraded/v3/--home-dev-project-1--/gen-16-1/session.v3.jsonl",
    "demo/session.jsonl",
    "formats/demo.v0.jsonl",
    "formats/demo.v0.jsonl",
    "formats/demo.v0.jsonl",
    "formats/demo.v2.jsonl",
    "formats/demo.v2.jsonl",
    "formats/demo.v3.jsonl",
    "formats/demo.v3.jsonl",
    "formats/development-builds.v0.jsonl",
    "locks/stale-before-end-seed.jsonl",
    "cases/R15-nested-replace-start-greater-than-end/session.jsonl",
    "cases/R18-stale-lock-before-end-seed-then-success/session.jsonl",
    "cases/R20-call-ids-reused-each-round/session.jsonl",
    "cases/R25-repeated-failed-compactions/session.jsonl",
    "cases/R33-fork-with-copied-end-seed-markers/session.jsonl",
    "cases/R07-zstd-torn-tail/variant-complete.jsonl.zstd",
    "cases/R14-surfaceop-dialects/session.jsonl",
    "cases/R36-v3-system-head-and-generation-files/session.v3.jsonl",
];

fn bases() -> Vec<Base> {
    let all = LOGS.iter().map(|name| Base::of(name, &fixture(name)));
    let first = ["formats/demo.v0.jsonl", "cases/R33-fork-with-copied-end-seed-markers/session.jsonl"];
    all.chain(first.iter().map(|name| Base::of(name, &fixture(name)).in_version(0, 1))).collect()
}

/// How many mutants are tried.
fn cases() -> usize {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400)
}

/// The same mutants in each run, unless another seed is asked for.
fn runner() -> TestRunner {
    let seed: u64 = std::env::var("DSHC_MUTATION_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// What both sides are asked of a log.
struct Question {
    ours: fn(&Path) -> Ours,
    ask: fn(&[PathBuf]) -> Option<Vec<Theirs>>,
    /// Why the official packages refuse it.
    theirs: fn(&Theirs) -> Option<String>,
    /// The disagreements that stay.
    kinds: &'static [Kind],
    /// Whether what the official packages say first is among ours, where both refuse.
    says: fn(&str, &Ours) -> bool,
}

/// Whether the log can be used in its own format.
const OWN_FORMAT: Question = Question {
    ours: Ours::of,
    ask: Theirs::of,
    theirs: |theirs| theirs.refusal().map(|(who, why)| format!("{who}: {why}")),
    kinds: KINDS,
    says: |_, _| true,
};

/// Whether dsh can take the log to format 3.
const TO_3: Question = Question {
    ours: Ours::to_3,
    ask: Theirs::strictly,
    theirs: |theirs| theirs.strict_refusal().map(str::to_owned),
    kinds: KINDS_TO_3,
    says: |refusal, ours| {
        // Of a log that cannot be opened nothing else is told.
        let is_it = |code, codes: &[&str]| {
            codes.contains(&code) || dshc::check::rule(code).is_some_and(|rule| rule.family == "opening")
        };
        reasons::codes_of(refusal).is_none_or(|codes| ours.errors().any(|code| is_it(code, codes)))
    },
};

/// One log, and both verdicts.
struct Compared {
    ours: Ours,
    theirs: Theirs,
    /// Why the official packages refuse the log.
    refusal: Option<String>,
    /// Whether ours say that too, where both refuse.
    is_said: bool,
}

impl Question {
    fn of(&self, log: &Path, theirs: Theirs) -> Compared {
        let (ours, refusal) = ((self.ours)(log), (self.theirs)(&theirs));
        let is_said = !ours.refuses || refusal.as_ref().is_none_or(|refusal| (self.says)(refusal, &ours));
        Compared { ours, theirs, refusal, is_said }
    }

    /// Writes the mutants and asks both sides; the judges are asked once for all.
    fn compare(&self, sandbox: &Sandbox, bases: &[Base], batch: &[Mutant]) -> Option<Vec<Compared>> {
        let write = |(index, mutant): (usize, &Mutant)| {
            let (bytes, is_zstd) = mutant.of(&bases[mutant.log]);
            sandbox.write(&format!("{index}.jsonl{}", if is_zstd { ".zstd" } else { "" }), &bytes)
        };
        let logs: Vec<PathBuf> = batch.iter().enumerate().map(write).collect();
        let theirs = (self.ask)(&logs)?;
        Some(logs.iter().zip(theirs).map(|(log, theirs)| self.of(log, theirs)).collect())
    }

    /// The kind that a disagreement is of; where `verify` alone refuses, that of its first error, if all have one.
    fn kind(&self, compared: &Compared) -> Option<&'static Kind> {
        let Compared { ours, theirs, .. } = compared;
        if !compared.is_said {
            return None;
        }
        if !ours.refuses {
            let of = |kind: &&Kind| matches!(kind.side, Side::Official(of) if of(ours, theirs));
            return self.kinds.iter().find(of);
        }
        let of_code = |code| {
            let of = |kind: &&Kind| matches!(kind.side, Side::Verify(of) if of(code, ours, theirs));
            self.kinds.iter().find(of)
        };
        let kinds: Option<Vec<_>> = ours.errors().map(of_code).collect();
        kinds?.first().copied()
    }

    /// The mutant without all that its disagreement does not need.
    fn shrink(&self, sandbox: &Sandbox, bases: &[Base], mutant: Mutant) -> Mutant {
        let smaller = mutant.smaller();
        let compared = self.compare(sandbox, bases, &smaller).unwrap_or_default();
        let is_unlisted = |compared: &Compared| !compared.agree() && self.kind(compared).is_none();
        match smaller.into_iter().zip(compared).find(|(_, compared)| is_unlisted(compared)) {
            Some((smaller, _)) => self.shrink(sandbox, bases, smaller),
            None => mutant,
        }
    }

    /// Tries so many mutants, and sorts the verdicts.
    fn try_all(&self, sandbox: &Sandbox, bases: &[Base], cases: usize) -> Option<Tally> {
        let (mut runner, strategy) = (runner(), mutants(bases.len()));
        let mut tally = Tally::default();
        let mut left = cases;
        while left > 0 {
            let count = left.min(1000);
            left -= count;
            let sample = |_| strategy.new_tree(&mut runner).unwrap().current();
            let batch: Vec<Mutant> = (0..count).map(sample).collect();
            for (mutant, compared) in batch.iter().zip(self.compare(sandbox, bases, &batch)?) {
                tally.take(self, mutant, compared);
            }
        }
        Some(tally)
    }

    /// Fails if a mutant brings up a disagreement that is not listed.
    fn hold(&self) {
        let (sandbox, bases) = (Sandbox::new(), bases());
        let Some(tally) = self.try_all(&sandbox, &bases, cases()) else { return };
        eprintln!("{}", tally.report());
        let count = tally.unlisted.len();
        assert!(count == 0, "{count} mutants disagree\n{}", self.tell(&sandbox, &bases, &tally.unlisted));
    }

    /// What is to be told of disagreements that are not listed: one of each sort, as small as it gets.
    fn tell(&self, sandbox: &Sandbox, bases: &[Base], unlisted: &[(Mutant, Compared)]) -> String {
        let mut sorts: BTreeMap<_, (u64, &Mutant)> = BTreeMap::new();
        for (mutant, compared) in unlisted {
            let code = compared.ours.errors().next().map(str::to_owned);
            sorts.entry((compared.sort(), code)).or_insert((0, mutant)).0 += 1;
        }
        let mut told = String::new();
        for (sort, (count, mutant)) in sorts.iter().take(16) {
            writeln!(told, "\n{count} x {sort:?}").unwrap();
            let mutant = self.shrink(sandbox, bases, (*mutant).clone());
            let compared = self.compare(sandbox, bases, std::slice::from_ref(&mutant)).unwrap_or_default();
            told.extend(compared.iter().map(|compared| compared.told(&mutant, &bases[mutant.log])));
        }
        told
    }
}

impl Compared {
    /// Whether both refuse the log, and ours for what is said first too, or neither. Nothing official reads format 4.
    fn agree(&self) -> bool {
        let is_judged = self.theirs.version().is_none_or(|version| version < 4);
        !is_judged || (self.ours.refuses == self.refusal.is_some() && self.is_said)
    }

    /// The refusal without what differs from log to log.
    fn sort(&self) -> String {
        let Some(refusal) = &self.refusal else { return "no refusal".to_owned() };
        let mut sort = String::new();
        let mut is_quoted = false;
        for letter in refusal.chars() {
            match letter {
                '"' => is_quoted = !is_quoted,
                _ if is_quoted => {}
                '0'..='9' if sort.ends_with('#') => {}
                '0'..='9' => sort.push('#'),
                letter => sort.push(letter),
            }
        }
        sort.chars().take(100).collect()
    }

    /// The mutant, its lines that are new, and both verdicts.
    fn told(&self, mutant: &Mutant, base: &Base) -> String {
        let (bytes, is_zstd) = mutant.of(base);
        let mut told = format!("  {}: {mutant:?}\n", base.name);
        if !is_zstd {
            let old: Vec<&[u8]> = base.text.split(|byte| *byte == b'\n').collect();
            let new = bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !old.contains(line));
            for (at, line) in new.take(3) {
                writeln!(told, "  line {}: {:.600}", at + 1, String::from_utf8_lossy(line)).unwrap();
            }
        }
        writeln!(told, "  dshc: {}", self.ours.codes.join(" ")).unwrap();
        writeln!(
            told,
            "  official: {:?}; upgrades: {:.200}",
            self.refusal,
            self.theirs.strict["upgrades"].to_string()
        )
        .unwrap();
        told
    }
}

/// What was seen in a run.
#[derive(Default)]
struct Tally {
    agreed: BTreeMap<String, u64>,
    listed: BTreeMap<&'static str, u64>,
    unlisted: Vec<(Mutant, Compared)>,
}

impl Tally {
    fn take(&mut self, question: &Question, mutant: &Mutant, compared: Compared) {
        if compared.agree() {
            *self.agreed.entry(compared.sort()).or_default() += 1;
        } else if let Some(kind) = question.kind(&compared) {
            *self.listed.entry(kind.name).or_default() += 1;
        } else {
            self.unlisted.push((mutant.clone(), compared));
        }
    }

    fn report(&self) -> String {
        let mut report = format!("both agree: {}\n", self.agreed.values().sum::<u64>());
        for (sort, count) in &self.agreed {
            writeln!(report, "{count:7} {sort}").unwrap();
        }
        writeln!(report, "listed disagreements: {}", self.listed.values().sum::<u64>()).unwrap();
        for (name, count) in &self.listed {
            writeln!(report, "{count:7} {name}").unwrap();
        }
        report
    }
}

#[test]
fn verify_refuses_what_the_official_packages_refuse() {
    OWN_FORMAT.hold();
}

#[test]
fn verify_for_a_target_refuses_what_the_official_upgrades_refuse() {
    TO_3.hold();
}

#[test]
fn every_listed_disagreement_is_one_still() {
    let stored = |kind: &Kind| fixture(&format!("disagreements/{}.jsonl", kind.name));
    let logs: Vec<PathBuf> = KINDS.iter().map(stored).collect();
    let Some(theirs) = Theirs::of(&logs) else { return };
    assert!(KINDS.len() <= 10);
    for ((listed, log), theirs) in KINDS.iter().zip(&logs).zip(theirs) {
        let compared = OWN_FORMAT.of(log, theirs);
        assert!(!compared.agree(), "{}: {:?} {:?}", listed.name, compared.ours, compared.refusal);
        let found = OWN_FORMAT.kind(&compared).map(|kind| kind.name);
        assert_eq!(found, Some(listed.name), "{}", listed.reason);
    }
}
