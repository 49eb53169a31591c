//! The logs of `benches/generator`, which the benchmark measures on: sound, whatever is asked for.

#[path = "../../benches/generator/mod.rs"]
mod generator;

use crate::official::{judge, judge_strictly};
use crate::sandbox::{Sandbox, text};
use dshc::format;
use generator::{Frames, Goal, Packing, Plan, Shape, Surface};
use serde_json::Value;
use std::path::PathBuf;

const SHAPES: [Shape; 6] =
    [Shape::Dsh, Shape::TinyFrames, Shape::HugeRecord, Shape::Chunks, Shape::Tools, Shape::Cjk];
const PACKINGS: [Packing; 4] =
    [Packing::Raw, Packing::Zstd(Frames::Dsh), Packing::Zstd(Frames::One), Packing::Zstd(Frames::Tiny)];

fn plan(shape: Shape, version: usize, packing: Packing) -> Plan {
    let goal = if shape == Shape::HugeRecord { Goal::Record(300_000) } else { Goal::Bytes(60_000) };
    Plan { shape, goal, format: format::ALL[version], packing, surface: Surface::Full, seed: 3 }
}

/// Long enough for several compactions.
fn compacted(version: usize) -> Plan {
    let goal = Goal::Bytes(2_500_000);
    Plan { goal, surface: Surface::Small, ..plan(Shape::Tools, version, Packing::Zstd(Frames::Dsh)) }
}

/// A log of each shape and format, in one way of packing or another, and one with compactions.
fn plans() -> Vec<Plan> {
    let kinds = SHAPES.iter().flat_map(|shape| (0..format::ALL.len()).map(move |version| (*shape, version)));
    let each =
        kinds.enumerate().map(|(at, (shape, version))| plan(shape, version, PACKINGS[at % PACKINGS.len()]));
    each.chain((0..format::ALL.len()).map(compacted)).collect()
}

fn written(sandbox: &Sandbox, plans: &[Plan]) -> Vec<PathBuf> {
    let folders = (0..plans.len()).map(|at| sandbox.path(&format!("root-{at}")));
    folders
        .zip(plans)
        .map(|(root, plan)| {
            plan.write_archive(&root, 1).unwrap();
            let mut path = root;
            while path.is_dir() {
                path = std::fs::read_dir(&path).unwrap().next().unwrap().unwrap().path();
            }
            path
        })
        .collect()
}

#[test]
fn dshc_has_nothing_to_say_of_them() {
    let sandbox = Sandbox::new();
    let logs = written(&sandbox, &plans());
    let arguments: Vec<&str> = ["verify"].into_iter().chain(logs.iter().map(|log| text(log))).collect();
    let (report, _) = sandbox.json(&arguments);
    let files = report["files"].as_array().unwrap();
    assert_eq!(files.len(), logs.len());
    for file in files {
        let findings = file["findings"].as_array().unwrap();
        assert!(findings.iter().all(|finding| finding["severity"] == "note"), "{file}");
        assert!(file["events"].as_u64().unwrap() > 10, "{}", file["path"]);
    }
}

#[test]
fn dsh_takes_them() {
    let sandbox = Sandbox::new();
    let plans: Vec<Plan> = plans().into_iter().filter(|plan| plan.format.version == 0).collect();
    let logs = written(&sandbox, &plans);
    let Some(verdicts) = judge(&logs, &[]) else { return };
    for verdict in verdicts {
        assert_eq!(
            (&verdict["loads"], &verdict["invariants"]),
            (&Value::Bool(true), &Value::from("ok")),
            "{verdict}"
        );
        assert_eq!(verdict["resumed"], "as stored", "{}", verdict["path"]);
    }
}

#[test]
fn the_codecs_take_them_and_upgrade_them() {
    let sandbox = Sandbox::new();
    let plans: Vec<Plan> = plans().into_iter().filter(|plan| plan.format.version < 4).collect();
    let logs = written(&sandbox, &plans);
    let Some(verdicts) = judge_strictly(&logs) else { return };
    for verdict in verdicts {
        assert_eq!(verdict["ok"], true, "{verdict}");
        assert!(
            verdict["upgrades"].as_object().unwrap().values().all(|upgrade| upgrade == "ok"),
            "{verdict}"
        );
    }
}

#[test]
fn a_small_surface_stays_small() {
    let sandbox = Sandbox::new();
    for log in written(&sandbox, &[compacted(0), compacted(4)]) {
        let (replay, _) = sandbox.json(&["replay", text(&log)]);
        assert!(replay["replaceGeneration"].as_u64().unwrap() >= 3, "{}", log.display());
        assert!(replay["hostTokens"].as_u64().unwrap() < 120_000, "{}", log.display());
    }
}

#[test]
fn a_plan_gives_the_same_bytes_again_and_frames_change_no_text() {
    let bytes = |plan: &Plan| plan.write(Vec::new(), "session-1", "/home/mira/tidecast").unwrap().1;
    let raw = plan(Shape::Dsh, 0, Packing::Raw);
    assert_eq!(bytes(&raw), bytes(&raw));
    assert_ne!(bytes(&raw), bytes(&Plan { seed: 4, ..raw.clone() }));
    for packing in PACKINGS.into_iter().filter(|packing| *packing != Packing::Raw) {
        let packed = bytes(&Plan { packing, ..raw.clone() });
        assert_eq!(zstd::decode_all(packed.as_slice()).unwrap(), bytes(&raw), "{packing:?}");
    }
}

#[test]
fn a_record_is_as_large_as_is_asked_for() {
    let (_, log) = plan(Shape::HugeRecord, 0, Packing::Raw).write(Vec::new(), "session-1", "/").unwrap();
    let longest = log.split(|byte| *byte == b'\n').map(<[u8]>::len).max().unwrap();
    assert!((300_000..310_000).contains(&longest), "{longest}");
}
