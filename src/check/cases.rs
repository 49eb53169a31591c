//! The reported cases in `fixtures/cases`: what each must say, and what not.

use super::testing::{check_fixture, code_at_seq, codes, fixture, worst};
use super::{Checked, Finding, Severity};
use crate::log::{LogReader, Source};
use crate::session::LockState;

fn case(path: &str) -> Checked {
    check_fixture(&format!("cases/{path}"))
}

/// The findings of a case as `code@seq`, `-` where there is no seq.
fn found(path: &str) -> Vec<String> {
    // Figures in these logs are round inventions (cases/README), and their checkpoints speak of the task in few words.
    let is_aside = |finding: &Finding| {
        finding.severity == Severity::Note
            && ["shadowed-tokens", "task-lost", "no-human-prompt-on-surface"].contains(&finding.code)
    };
    case(path).findings.iter().filter(|finding| !is_aside(finding)).map(code_at_seq).collect()
}

#[test]
fn r01_duplicate_seq_closers_vs_late_result() {
    let path = "R01-duplicate-seq-closers-vs-late-result/session.jsonl";
    assert_eq!(found(path), ["seq-fork@16"]);
    let finding = &case(path).findings[0];
    assert_eq!((finding.place.line, finding.severity), (Some(21), Severity::Error));
    for told in [
        "line 21 carries seq 16 where 19 was expected: the log holds two histories from seq 16",
        "branch A: lines 18 to 20, seqs 16 to 18 (entirely synthetic: tool/result TOOL_OUTCOME_UNKNOWN, step/end, turn/end interrupted)",
        "branch B: lines 21 to 26, seqs 16 to 21 (real work: tool/result for \"call_test\", step/end, step/start",
        "keeping branch B loses no real work, since the others are entirely synthetic",
    ] {
        assert!(finding.message.contains(told), "{}", finding.message);
    }
    assert_eq!(finding.related.iter().map(|related| related.seq).collect::<Vec<_>>(), [16, 16]);
}

#[test]
fn r03_packed_row_overlaps_committed_seqs() {
    let path = "R03-packed-row-overlaps-committed-seqs/session.jsonl";
    assert_eq!(found(path), ["seq-overlap@9"]);
    let checked = case(path);
    let finding = &checked.findings[0];
    assert_eq!(finding.place.line, Some(13));
    assert!(finding.message.contains("5 events (seqs 9 to 13)"), "{}", finding.message);
    assert!(finding.message.contains("seqs 9 to 10 are taken"), "{}", finding.message);
    assert_eq!((checked.ending.events, checked.ending.lock), (18, Some(LockState::Free)));
}

#[test]
fn r04_damaged_line_then_work_without_turn_end() {
    let path = "R04-damaged-line-then-work-without-turn-end/session.jsonl";
    let checked = case(path);
    let bad = checked.findings.iter().find(|finding| finding.code == "unparsable-line").unwrap();
    assert_eq!((bad.place.line, bad.seq, bad.severity), (Some(18), Some(16), Severity::Error));
    assert!(bad.help.ends_with("deletes everything from here on when it loads the session"), "{}", bad.help);
    let behind = checked.findings.iter().find(|finding| finding.code == "valid-events-after-damage").unwrap();
    assert_eq!((behind.place.line, behind.seq, behind.severity), (Some(19), Some(17), Severity::Error));
    assert!(
        behind.message.starts_with("26 sound events (seqs 17 to 42, lines 19 to 44)"),
        "{}",
        behind.message
    );
    let is_told = |code| ["unparsable-line", "valid-events-after-damage"].contains(&code);
    let others = checked.findings.iter().filter(|finding| !is_told(finding.code));
    assert!(others.clone().all(|finding| finding.severity == Severity::Note), "{:#?}", checked.findings);
    assert_eq!(checked.ending.events, 42);
}

#[test]
fn r05_archive_with_one_bad_session() {
    let archive = "R05-archive-with-one-bad-session/archive/_no-cwd";
    assert_eq!(found(&format!("{archive}/r05-good-1/session.jsonl")), [""; 0]);
    assert_eq!(found(&format!("{archive}/r05-good-2/session.jsonl")), [""; 0]);
    assert_eq!(found(&format!("{archive}/r05-bad/session.jsonl")), ["seq-fork@11"]);
    let empty = Source::open(&fixture(&format!("cases/{archive}/r05-empty/session.jsonl"))).unwrap();
    assert_eq!(LogReader::open(&empty).err().map(|error| error.code()), Some("empty-file"));
}

#[test]
fn r07_zstd_torn_tail() {
    let log = |name: &str| format!("R07-zstd-torn-tail/{name}");
    for torn in
        ["session.jsonl.zstd", "variant-last-frame-only-magic.jsonl.zstd", "variant-3-stray-bytes.jsonl.zstd"]
    {
        let checked = case(&log(torn));
        assert_eq!(
            (codes(&checked), worst(&checked)),
            (vec!["torn-tail"], Some(Severity::Warning)),
            "{torn}"
        );
        let finding = &checked.findings[0];
        assert_eq!((checked.ending.events, finding.place.byte), (7, Some(592)), "{torn}");
        assert!(finding.message.contains("7 events (to seq 6), and turn 1 is open"), "{}", finding.message);
    }
    assert_eq!(found(&log("variant-complete.jsonl.zstd")), [""; 0]);
    let flipped = case(&log("variant-bitflip-in-committed-frame.jsonl.zstd"));
    let errors: Vec<_> =
        flipped.findings.iter().filter(|finding| finding.severity > Severity::Note).collect();
    assert_eq!((errors.len(), errors[0].code), (1, "frame-checksum"), "{:#?}", flipped.findings);
    assert_eq!(flipped.findings[0].place.byte, Some(88));
    let skippable = case(&log("variant-skippable-frame-in-middle.jsonl.zstd"));
    assert_eq!((codes(&skippable), skippable.ending.events), (vec!["official-reader-refuses"], 17));
    assert_eq!(skippable.findings[0].place.byte, Some(592));
    let padded = case(&log("variant-nul-padding-at-end.jsonl.zstd"));
    assert_eq!((codes(&padded), padded.ending.events), (vec!["trailing-garbage"], 17));
    assert_eq!(padded.findings[0].place.byte, Some(1000));
    let told = "512 NUL bytes at byte 1000, up to the end of the file; content complete, 17 events";
    assert_eq!(padded.findings[0].message, told);
}

#[test]
fn r09_torn_stub_fused_with_next_record() {
    let path = "R09-torn-stub-fused-with-next-record/session.jsonl";
    assert_eq!(found(path), ["fused-records@12"]);
    let checked = case(path);
    let finding = &checked.findings[0];
    assert_eq!((checked.ending.events, finding.place.line), (17, Some(14)));
    let told = "it holds a 37-byte stub of a broken record and 1 whole record (seq 12 at column 38); the stub is the \
                beginning of the record behind it, so nothing is lost";
    assert!(finding.message.ends_with(told), "{}", finding.message);
    assert!(finding.help.contains("dsh refuses the log, since a turn ends in line 18"), "{}", finding.help);
}

#[test]
fn r10_lone_surrogate_in_tool_result() {
    let path = "R10-lone-surrogate-in-tool-result/session.jsonl";
    assert_eq!(found(path), ["lone-surrogate@16"]);
    let checked = case(path);
    assert_eq!((worst(&checked), checked.findings[0].place.line), (Some(Severity::Warning), Some(18)));
    let message = &checked.findings[0].message;
    assert_eq!(message, r"\ud83d, half of a surrogate pair, at data.message.content[0].content[0].text");
}

#[test]
fn r12_crlf_and_bom() {
    assert_eq!(found("R12-crlf-and-bom/session.jsonl"), ["crlf@-"]);
    let crlf = case("R12-crlf-and-bom/session.jsonl");
    assert_eq!((worst(&crlf), crlf.ending.events), (Some(Severity::Note), 11));
    assert_eq!(crlf.findings[0].message, "12 lines end in CRLF, the first of them line 1");
    let bom = case("R12-crlf-and-bom/variant-bom.jsonl");
    assert_eq!(
        (codes(&bom), worst(&bom), bom.ending.events),
        (vec!["official-reader-refuses"], Some(Severity::Error), 11)
    );
    assert!(bom.findings[0].message.starts_with("bom: "), "{}", bom.findings[0].message);
    assert!(bom.findings[0].help.contains("its list of sessions leaves it out"), "{}", bom.findings[0].help);
    let blank = case("R12-crlf-and-bom/variant-blank-line-inside.jsonl");
    assert_eq!(codes(&blank), ["blank-line"; 3]);
    let lines: Vec<_> = blank.findings.iter().map(|finding| finding.place.line).collect();
    assert_eq!(lines, [Some(2), Some(4), Some(6)]);
}

#[test]
fn r14_surfaceop_dialects() {
    assert_eq!(found("R14-surfaceop-dialects/session.jsonl"), [""; 0]);
    for variant in ["variant-v0-with-new-names", "variant-both-spellings", "variant-start-key-missing"] {
        let path = format!("R14-surfaceop-dialects/{variant}.jsonl");
        assert_eq!(found(&path), ["surface-op-dialect@8"]);
        let checked = case(&path);
        let error = checked.findings.iter().find(|finding| finding.severity == Severity::Error).unwrap();
        assert!(error.message.contains("op \"replace\", start, end"), "{}", error.message);
        assert_eq!(checked.findings.iter().filter(|finding| finding.severity > Severity::Note).count(), 1);
        let names_the_lost_key = error.message.ends_with("\"start\" is missing");
        assert_eq!(names_the_lost_key, variant == "variant-start-key-missing", "{}", error.message);
    }
    assert_eq!(found("R14-surfaceop-dialects/variant-v3-with-new-names.jsonl"), [""; 0]);
    let old = "R14-surfaceop-dialects/variant-v3-with-old-names.jsonl";
    assert_eq!(found(old), ["surface-op-dialect@9"]);
    let old = case(old).findings.into_iter().find(|finding| finding.severity == Severity::Error).unwrap();
    let spelling = "op \"replace\", startSeq, endSeq is what format 3 takes, found op, start, end";
    assert!(old.message.contains(spelling), "{}", old.message);
}

#[test]
fn r15_nested_replace_start_greater_than_end() {
    assert_eq!(found("R15-nested-replace-start-greater-than-end/session.jsonl"), [""; 0]);
}

#[test]
fn r16_orphan_lock_owner_turn_already_ended() {
    let log = |name: &str| format!("R16-orphan-lock-owner-turn-already-ended/{name}.jsonl");
    assert_eq!(found(&log("session")), ["orphaned-lock@6", "orphaned-summary@7"]);
    let lock = case(&log("session")).findings.swap_remove(0);
    assert!(lock.message.contains("(id \"cmp-lost\", owner turn 1)"), "{}", lock.message);
    assert!(lock.message.contains("turn 1 is over since seq 10"), "{}", lock.message);
    assert!(lock.help.contains("no compaction/end is legal") && lock.help.contains("session/end-seed"));
    let told = super::lock_told(&case(&log("session")).ending.lock.unwrap(), 0);
    assert!(told.starts_with("held by the compaction that starts at seq 6"), "{told}");
    assert_eq!(
        found(&log("variant-bad-fix-close-with-dead-turn")),
        ["compaction-bracket-crosses-turn@10", "failed-compactions@17"]
    );
    let ignored = found(&log("variant-bad-fix-ignore-the-lock"));
    assert_eq!(
        ignored,
        ["orphaned-summary@7", "compaction-bracket-crosses-turn@10", "compaction-start-while-open@17"]
    );
    assert_eq!(found(&log("variant-good-fix-end-seed-then-standalone-bracket")), ["expired-lock@6"]);
}

#[test]
fn r18_stale_lock_before_end_seed_then_success() {
    let path = "R18-stale-lock-before-end-seed-then-success/session.jsonl";
    assert_eq!(found(path), ["expired-lock@17"]);
    let checked = case(path);
    assert_eq!((worst(&checked), checked.ending.lock), (Some(Severity::Note), Some(LockState::Free)));
    assert_eq!(checked.findings[0].related[0].seq, 20);
}

#[test]
fn r19_parallel_batch_split_by_replace() {
    let path = "R19-parallel-batch-split-by-replace/session.jsonl";
    assert_eq!(found(path), ["result-without-call@7"]);
    let checked = case(path);
    let finding = checked.findings.iter().find(|finding| finding.code == "result-without-call").unwrap();
    assert!(finding.message.contains("call_B"), "{}", finding.message);
    assert_eq!(finding.related[0].seq, 12);
    let cause = "the replacement of 1..6 (compaction \"cmp-split\") hides its call at seq 3";
    assert_eq!(finding.related[0].message, cause);
    assert_eq!(found("R19-parallel-batch-split-by-replace/variant-before-compaction.jsonl"), [""; 0]);
}

#[test]
fn r20_call_ids_reused_each_round() {
    let path = "R20-call-ids-reused-each-round/session.jsonl";
    assert_eq!(worst(&case(path)), Some(Severity::Note));
    assert!(case(path).findings[0].message.contains("\"read:0\" x3"));
    assert_eq!(found(path), ["reused-call-id@8"]);
    let second = "R20-call-ids-reused-each-round/variant-second-round-unanswered.jsonl";
    assert_eq!(found(second), ["call-without-result@8", "reused-call-id@8"]);
    assert_eq!(worst(&case(second)), Some(Severity::Error));
}

#[test]
fn r22_balanced_by_count_wrong_id() {
    let path = "R22-balanced-by-count-wrong-id/session.jsonl";
    assert_eq!(found(path), ["call-without-result@3", "result-without-call@6"]);
    let checked = case(path);
    assert!(checked.findings.iter().all(|finding| finding.severity == Severity::Error));
    assert!(
        checked.findings[0].message.contains("call_build")
            && checked.findings[1].message.contains("call_other")
    );
}

#[test]
fn r23_user_message_between_call_and_result() {
    let path = "R23-user-message-between-call-and-result/session.jsonl";
    assert_eq!(found(path), ["result-not-adjacent@6"]);
    let checked = case(path);
    assert_eq!(worst(&checked), Some(Severity::Warning));
    assert_eq!(checked.findings[0].message, "seq 5 stands between the call of seq 3 and its result 6");
}

#[test]
fn r25_repeated_failed_compactions() {
    let checked = case("R25-repeated-failed-compactions/session.jsonl");
    assert_eq!((codes(&checked), worst(&checked)), (vec!["failed-compactions"], Some(Severity::Note)));
    assert!(
        checked.findings[0].message.starts_with("5 compactions ended with an error, all with the same error")
    );
    assert!(checked.findings[0].message.contains("surface unchanged since seq 3"));
    assert_eq!(checked.ending.lock, Some(LockState::Free));
}

#[test]
fn r27_original_task_lost_on_second_fold() {
    let path = "R27-original-task-lost-on-second-fold/session.jsonl";
    // The figures are inventions; by them dsh's meter, if not its reader, refuses the log too.
    assert_eq!(found(path), ["estimate-below-zero@16", "no-human-prompt-on-surface@16", "task-lost@16"]);
    let checked = case(path);
    for finding in checked.findings.iter().filter(|finding| finding.severity == Severity::Warning) {
        assert!(finding.message.contains("hidden by seqs 9 -> 16"), "{}", finding.message);
        assert!(
            finding.message.contains("\"Deploy only to region two, never to region one."),
            "{}",
            finding.message
        );
        assert_eq!(finding.related.iter().map(|related| related.seq).collect::<Vec<_>>(), [1, 9, 16]);
    }
}

#[test]
fn r30_special_tokens_and_cjk() {
    let path = "R30-special-tokens-and-cjk/session.jsonl";
    assert_eq!(found(path), ["estimate-low-for-cjk@7"]);
    assert_eq!(worst(&case(path)), Some(Severity::Note));
}

#[test]
fn r33_r36_r38_break_no_rule_of_these() {
    for clean in [
        "R33-fork-with-copied-end-seed-markers/session.jsonl",
        "R35-v0-range-encoded-provenance/variant-plain-list.jsonl",
        "R35-v0-range-encoded-provenance/variant-packed-row.jsonl",
        "R36-v3-system-head-and-generation-files/session.jsonl",
        "R36-v3-system-head-and-generation-files/session.v3.jsonl",
        "R38-both-encodings-in-one-directory/session.jsonl",
        "R38-both-encodings-in-one-directory/session.jsonl.zstd",
    ] {
        assert_eq!(found(clean), [""; 0], "{clean}");
    }
}

#[test]
fn r31_unknown_required_event() {
    let path = "R31-unknown-required-event/session.jsonl";
    assert_eq!(found(path), ["unknown-required-event@11"]);
    let text = format!("{:?}", case(path).findings);
    assert!(text.contains("acme-fallbacks/switch") && !text.contains("corrupt"), "{text}");
    let ignorable = case("R31-unknown-required-event/variant-ignorable.jsonl");
    assert_eq!(
        (codes(&ignorable), worst(&ignorable)),
        (vec!["unknown-ignorable-event"], Some(Severity::Note))
    );
}

#[test]
fn r35_v0_range_encoded_provenance() {
    let ranged = case("R35-v0-range-encoded-provenance/session.jsonl");
    assert_eq!((codes(&ranged), worst(&ranged)), (vec!["range-encoded-provenance"], Some(Severity::Note)));
    let finding = &ranged.findings[0];
    assert_eq!((finding.seq, ranged.ending.events), (Some(9), 12));
    assert_eq!(
        finding.message,
        "1 event with ranges in sourceEventSeqs, seq 9 the first (it names 3..8): needs dsh >= 0.1.2"
    );
}
