//! Official logs with a few changes: what the official packages refuse, `dshc verify` reports as an error, and nothing else.
//!
//! By hand, `PROPTEST_CASES=20000 cargo test --release --test cli -- mutations` tries more, `DSHC_MUTATION_SEED=7` others.
//! Mutants that disagree are written to the folder `DSHC_MUTANTS`, if that is set.

mod kinds;
mod members;
mod mutant;
mod numbering;
mod verdicts;

use crate::sandbox::{Sandbox, fixture};
use kinds::{KINDS, Kind, kind};
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

/// One log, and both verdicts.
struct Compared {
    ours: Ours,
    theirs: Theirs,
}

impl Compared {
    /// Whether both refuse the log in its own format, or neither. Nothing official reads format 4.
    fn agree(&self) -> bool {
        let is_judged = self.theirs.version().is_none_or(|version| version < 4);
        !is_judged || self.ours.refuses == self.theirs.refusal().is_some()
    }
}

/// Writes the mutants and asks both sides: `ours` a log, the judges all at once.
fn compare(
    sandbox: &Sandbox,
    bases: &[Base],
    batch: &[Mutant],
    ours: fn(&Path) -> Ours,
) -> Option<Vec<Compared>> {
    let write = |(index, mutant): (usize, &Mutant)| {
        let (bytes, is_zstd) = mutant.of(&bases[mutant.log]);
        sandbox.write(&format!("{index}.jsonl{}", if is_zstd { ".zstd" } else { "" }), &bytes)
    };
    let logs: Vec<PathBuf> = batch.iter().enumerate().map(write).collect();
    let theirs = Theirs::of(&logs)?;
    let both = logs.iter().zip(theirs).map(|(log, theirs)| Compared { ours: ours(log), theirs });
    Some(both.collect())
}

/// A mutant that still disagrees in no listed way, and loses that when any step of it is left out.
fn shrink(sandbox: &Sandbox, bases: &[Base], mutant: Mutant, ours: fn(&Path) -> Ours) -> Mutant {
    let smaller = mutant.smaller();
    let compared = compare(sandbox, bases, &smaller, ours).unwrap_or_default();
    let worse = |compared: &Compared| !compared.agree() && kind(&compared.ours, &compared.theirs).is_none();
    match smaller.into_iter().zip(compared).find(|(_, compared)| worse(compared)) {
        Some((smaller, _)) => shrink(sandbox, bases, smaller, ours),
        None => mutant,
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
    fn take(&mut self, mutant: Mutant, compared: Compared) {
        if compared.agree() {
            *self.agreed.entry(compared.theirs.kind()).or_default() += 1;
        } else if let Some(kind) = kind(&compared.ours, &compared.theirs) {
            *self.listed.entry(kind.name).or_default() += 1;
        } else {
            self.unlisted.push((mutant, compared));
        }
    }

    fn report(&self) -> String {
        let mut report = format!("agreed: {}\n", self.agreed.values().sum::<u64>());
        for (kind, count) in &self.agreed {
            writeln!(report, "{count:7} {kind}").unwrap();
        }
        writeln!(report, "listed disagreements: {}", self.listed.values().sum::<u64>()).unwrap();
        for (kind, count) in &self.listed {
            writeln!(report, "{count:7} {kind}").unwrap();
        }
        report
    }
}

#[test]
fn verify_refuses_what_the_official_packages_refuse() {
    let (sandbox, bases) = (Sandbox::new(), bases());
    let (mut runner, strategy) = (runner(), mutants(bases.len()));
    let mut tally = Tally::default();
    let mut left = cases();
    while left > 0 {
        let count = left.min(1000);
        left -= count;
        let batch: Vec<Mutant> =
            (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect();
        let Some(compared) = compare(&sandbox, &bases, &batch, Ours::of) else { return };
        for (mutant, compared) in batch.into_iter().zip(compared) {
            tally.take(mutant, compared);
        }
    }
    eprintln!("{}", tally.report());
    let mut told = String::new();
    let mut seen = BTreeMap::new();
    for (mutant, compared) in &tally.unlisted {
        let kind = (compared.theirs.kind(), compared.ours.codes.first().cloned());
        let count = seen.entry(kind).or_insert(0);
        *count += 1;
        if *count == 1 && seen.len() <= 12 {
            let mutant = shrink(&sandbox, &bases, mutant.clone(), Ours::of);
            told.push_str(&tell(&sandbox, &bases, &mutant));
        }
    }
    for (kind, count) in &seen {
        writeln!(told, "{count:7} {kind:?}").unwrap();
    }
    assert!(tally.unlisted.is_empty(), "{} mutants disagree\n{told}", tally.unlisted.len());
}

/// The mutant, its lines that are new, and both verdicts.
fn tell(sandbox: &Sandbox, bases: &[Base], mutant: &Mutant) -> String {
    let compared = compare(sandbox, bases, std::slice::from_ref(mutant), Ours::of).unwrap_or_default();
    let Some(Compared { ours, theirs }) = compared.first() else { return String::new() };
    let base = &bases[mutant.log];
    let (bytes, is_zstd) = mutant.of(base);
    let mut told = format!("\n{}\n  {mutant:?}\n", base.name);
    if !is_zstd {
        let old: Vec<&[u8]> = base.text.split(|byte| *byte == b'\n').collect();
        let new = bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !old.contains(line));
        for (at, line) in new.take(3) {
            writeln!(told, "  line {}: {:.600}", at + 1, String::from_utf8_lossy(line)).unwrap();
        }
    }
    if let Some(folder) = std::env::var_os("DSHC_MUTANTS") {
        std::fs::write(Path::new(&folder).join(format!("{:x}", bytes.len() * 31 + told.len())), &bytes)
            .unwrap();
    }
    writeln!(told, "  dshc: {}; official: {:?}", ours.codes.join(" "), theirs.refusal()).unwrap();
    writeln!(told, "  upgrades: {:.300}", theirs.strict["upgrades"].to_string()).unwrap();
    told
}

#[test]
fn every_listed_disagreement_is_one_still() {
    let stored = |kind: &Kind| fixture(&format!("disagreements/{}.jsonl", kind.name));
    let logs: Vec<PathBuf> = KINDS.iter().map(stored).collect();
    let Some(theirs) = Theirs::of(&logs) else { return };
    assert!(KINDS.len() <= 10);
    for ((listed, log), theirs) in KINDS.iter().zip(&logs).zip(theirs) {
        let compared = Compared { ours: Ours::of(log), theirs };
        assert!(!compared.agree(), "{}: {:?} {:?}", listed.name, compared.ours, compared.theirs.refusal());
        let found = kind(&compared.ours, &compared.theirs).map(|kind| kind.name);
        assert_eq!(found, Some(listed.name), "{}", listed.reason);
    }
}
