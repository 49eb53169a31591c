//! What forks say of their branches, held against the log.

use super::{other, todo};
use crate::check::Checked;
use crate::check::testing::check_events;

/// The numbers from `lines 3, 5 to 7 and 9`.
fn stretches(told: &str) -> Vec<u64> {
    let told = told.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let span = |one: &str| {
        let (first, last) = one.split_once(" to ").unwrap_or((one, one));
        first.parse::<u64>().unwrap()..=last.parse().unwrap()
    };
    told.replace(" and ", ", ").split(", ").flat_map(span).collect()
}

/// Checks that the branches of each fork are apart, and dense from the fork on but for what they say is missing.
fn check_branches(log: &[(u64, String)], checked: &Checked) {
    for fork in checked.findings.iter().filter(|finding| finding.code == "seq-fork") {
        let mut taken = std::collections::BTreeSet::new();
        for branch in &fork.related {
            let (head, _) = branch.message.split_once(" (").unwrap();
            let (lines, seqs) = head.split_once(", seq").unwrap_or(("", head));
            let missing = seqs.split_once(", of which ").map(|(_, told)| told.split(" is ").next().unwrap());
            let missing =
                missing.map(|told| stretches(told.split(" are ").next().unwrap())).unwrap_or_default();
            let lines = lines.split_once(": ").map_or(Vec::new(), |(_, lines)| stretches(lines));
            let mut seqs: Vec<u64> =
                lines.iter().map(|line| log[usize::try_from(*line).unwrap() - 2].0).collect();
            seqs.extend(missing);
            seqs.sort_unstable();
            let dense: Vec<u64> = (branch.seq..).take(seqs.len()).collect();
            assert_eq!(seqs, dense, "{}", fork.message);
            for line in lines {
                assert!(taken.insert(line), "line {line} is in two branches: {}", fork.message);
            }
        }
    }
}

proptest::proptest! {
    /// What a finding names as a branch can be kept: with what stands before the fork it is a log without gaps but for
    /// those that are told, and no line is in two branches.
    #[test]
    fn every_branch_can_be_kept(
        trunk in 1_u64..8,
        writers in proptest::collection::vec(1_u64..8, 2..4),
        batches in proptest::collection::vec((0_usize..4, 1_u64..4, proptest::bool::weighted(0.2)), 1..12),
    ) {
        let mut next: Vec<u64> = writers.iter().map(|seq| (*seq).min(trunk)).collect();
        let mut log: Vec<(u64, String)> = (0..trunk).map(|seq| (seq, todo(seq))).collect();
        for (writer, records, skips) in batches {
            let writer = writer % next.len();
            next[writer] += u64::from(skips);
            for _ in 0..records {
                log.push((next[writer], other(next[writer], &format!("w{writer}"))));
                next[writer] += 1;
            }
        }
        let lines: Vec<String> = log.iter().map(|(_, line)| line.clone()).collect();
        check_branches(&log, &check_events(&lines));
    }
}
