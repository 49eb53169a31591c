//! `compare`: dshc side by side with what else reads such files.

use crate::generator::{Frames, Goal, Packing, Plan, Shape, Surface};
use crate::measure::{self, Run};
use crate::outcome::{self, Row, Unit, Wanted};
use crate::rivals::{Rival, find};
use anyhow::{Context, Result};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const MIB: u64 = 1 << 20;
const ZSTD: Packing = Packing::Zstd(Frames::Dsh);

/// Measure dshc against `zstd -dc`, `jq` and the official reader, on logs that it makes. Exit code 1: something is not as wanted.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Runs of each program, of which the median counts
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,
    /// The log for the peak of memory has 2 GiB instead of 256 MiB
    #[arg(long)]
    full: bool,
    /// Logs of an eighth of the size: for a first look
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Only the lines whose name holds this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Another dshc than the one that cargo has built
    #[arg(long, value_name = "PATH", default_value = env!("CARGO_BIN_EXE_dshc"))]
    dshc: PathBuf,
    /// The formats of the logs
    #[arg(long, value_name = "N", default_value_t = 0)]
    version: u64,
    /// For machines
    #[arg(long)]
    json: bool,
}

/// A part of the measuring.
type Stage = fn(&Bench) -> Result<Vec<Row>>;

/// Measures, prints, and says whether all is as wanted.
pub fn compare(args: &CompareArgs, out: &mut impl Write) -> Result<bool> {
    let bench = Bench { args, folder: tempfile::tempdir().context("no folder for the logs")? };
    let mut rows = Vec::new();
    let stages: [(&str, Stage); 8] = [
        ("frames of dsh", |bench| bench.against_zstd("frames of dsh", Frames::Dsh, Wanted::AtMost(1.0))),
        ("one frame", |bench| bench.against_zstd("one frame a log", Frames::One, Wanted::AtMost(3.5))),
        ("tiny frames", |bench| bench.tiny_frames()),
        ("raw", |bench| bench.raw()),
        ("official reader", |bench| bench.official()),
        ("small logs", |bench| bench.small_logs()),
        ("replay", |bench| bench.replay()),
        ("peak", |bench| bench.peaks()),
    ];
    for (name, stage) in stages {
        if name.contains(&args.only) {
            rows.extend(stage(&bench)?);
        }
    }
    if args.json {
        outcome::json(&rows, out)?;
    } else {
        outcome::table(&rows, out)?;
    }
    Ok(rows.iter().all(|row| row.is_held() != Some(false)))
}

struct Bench<'a> {
    args: &'a CompareArgs,
    folder: tempfile::TempDir,
}

impl Bench<'_> {
    fn plan(&self, shape: Shape, goal: Goal, packing: Packing) -> Result<Plan> {
        let format = dshc::format::of(self.args.version).context("there is no such format")?;
        let goal = match goal {
            Goal::Bytes(bytes) => Goal::Bytes(self.scaled(bytes)),
            Goal::Events(events) => Goal::Events(self.scaled(events)),
            Goal::Record(bytes) => Goal::Record(self.scaled(bytes)),
        };
        Ok(Plan { shape, goal, format, packing, surface: Surface::Small, seed: 7 })
    }

    fn scaled(&self, amount: u64) -> u64 {
        if self.args.quick { amount / 8 } else { amount }
    }

    /// Logs below a folder of their own.
    fn archive(&self, name: &str, plan: &Plan, logs: u64) -> Result<Logs> {
        let root = self.folder.path().join(name);
        plan.write_archive(&root, logs)?;
        let files = walkdir::WalkDir::new(&root)
            .sort_by_file_name()
            .into_iter()
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_file())
            .map(walkdir::DirEntry::into_path)
            .collect();
        Ok(Logs { root, files })
    }

    fn log(&self, name: &str, plan: &Plan) -> Result<PathBuf> {
        let path = self.folder.path().join(name).join(plan.file_name());
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        plan.write_file(&path)?;
        Ok(path)
    }

    fn dshc(&self, command: &str, jobs: &str, path: &Path) -> Command {
        let mut dshc = Command::new(&self.args.dshc);
        dshc.args([command, "--no-progress", "-q", "-j", jobs]).arg(path);
        dshc
    }

    fn against(
        &self,
        row: Row,
        rival: Result<Rival, String>,
        logs: &Logs,
        faster: Faster,
    ) -> Result<Vec<Row>> {
        let rival = match rival {
            Ok(rival) => rival,
            Err(lacks) => return Ok(vec![Row { lacks: Some(lacks), ..row }]),
        };
        let mut commands = [self.dshc("verify", "1", &logs.root), rival.command(&logs.files)];
        let runs = measure::side_by_side(&mut commands, self.args.rounds)?;
        Ok(vec![match runs[..] {
            [ours, other] => row.with(ours, rival.name, other, faster),
            _ => row,
        }])
    }

    fn against_zstd(&self, name: &str, frames: Frames, wanted: Wanted) -> Result<Vec<Row>> {
        let logs =
            self.archive(name, &self.plan(Shape::Dsh, Goal::Bytes(MIB), Packing::Zstd(frames))?, 64)?;
        self.against(
            row(format!("verify -j1, zstd, {name}"), wanted),
            find("zstd", &["-dc"]),
            &logs,
            Faster::Other,
        )
    }

    fn tiny_frames(&self) -> Result<Vec<Row>> {
        let plan = self.plan(Shape::TinyFrames, Goal::Events(60_000), Packing::Zstd(Frames::Tiny))?;
        let logs = self.archive("tiny", &plan, 1)?;
        self.against(
            row(format!("verify -j1, {} tiny frames", self.scaled(60_000)), Wanted::AtMost(0.5)),
            find("zstd", &["-dc"]),
            &logs,
            Faster::Other,
        )
    }

    fn raw(&self) -> Result<Vec<Row>> {
        let logs = self.archive("raw", &self.plan(Shape::Dsh, Goal::Bytes(MIB), Packing::Raw)?, 64)?;
        self.against(
            row("verify -j1, raw".to_owned(), Wanted::AtLeast(6.0)),
            find("jq", &["-c", ".type"]),
            &logs,
            Faster::Ours,
        )
    }

    /// The official reader of format 0, in a fresh process a log.
    fn official(&self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for size in [MIB, 16 * MIB] {
            let name = mebibytes(self.scaled(size));
            let bare = row(format!("verify -j1, {name}, reading alone"), Wanted::AtLeast(8.0));
            let whole = row(format!("verify -j1, {name}, whole process"), Wanted::AtLeast(30.0));
            let rival = match Rival::official() {
                Ok(rival) if self.args.version == 0 => rival,
                lacking => {
                    let lacks = Some(lacking.err().unwrap_or_else(|| "it reads format 0 alone".to_owned()));
                    rows.extend([bare, whole].map(|row| Row { lacks: lacks.clone(), ..row }));
                    continue;
                }
            };
            let logs = self.archive(&name, &self.plan(Shape::Dsh, Goal::Bytes(size), ZSTD)?, 1)?;
            let mut commands =
                [self.dshc("verify", "1", &logs.root), rival.command(&logs.files), rival.command(&[])];
            let runs = measure::side_by_side(&mut commands, self.args.rounds)?;
            if let [ours, with_log, empty] = runs[..] {
                let reading = with_log.less(empty);
                rows.push(if reading.wall > 0.0 {
                    bare.with(ours, rival.name, reading, Faster::Ours)
                } else {
                    Row { lacks: Some("its start-up hides the reading".to_owned()), ..bare }
                });
                rows.push(whole.with(ours, rival.name, with_log, Faster::Ours));
            }
        }
        Ok(rows)
    }

    fn small_logs(&self) -> Result<Vec<Row>> {
        let plan = self.plan(Shape::Dsh, Goal::Bytes(20 << 10), ZSTD)?;
        let logs =
            self.archive("small", &Plan { goal: Goal::Bytes(20 << 10), ..plan }, self.scaled(10_000))?;
        let mut commands = [self.dshc("verify", "2", &logs.root), self.dshc("verify", "1", &logs.root)];
        let runs = measure::side_by_side(&mut commands, self.args.rounds)?;
        let row = row(format!("verify -j2, {} small logs", logs.files.len()), Wanted::AtLeast(1.8));
        Ok(vec![match runs[..] {
            // Two jobs do the same work: its processor time says nothing of how it was shared.
            [two, one] => Row { cpu_figure: None, ..row.with(two, "-j1", one, Faster::Ours) },
            _ => row,
        }])
    }

    fn replay(&self) -> Result<Vec<Row>> {
        let plan = self.plan(Shape::Dsh, Goal::Bytes(20 << 10), ZSTD)?;
        let log = self.log("replay", &Plan { goal: Goal::Bytes(20 << 10), ..plan })?;
        let runs = measure::side_by_side(&mut [self.dshc("replay", "1", &log)], self.args.rounds.max(21))?;
        let ours = runs.first().copied();
        let figure = ours.map(|run| run.wall * 1000.0);
        let row = row("replay, 20 KB".to_owned(), Wanted::AtMost(10.0));
        Ok(vec![Row { ours, figure, unit: Unit::Milliseconds, ..row }])
    }

    fn peaks(&self) -> Result<Vec<Row>> {
        let long = if self.args.full { 2048 * MIB } else { 256 * MIB };
        let record = 64 * MIB;
        let (name, record_name) = (mebibytes(self.scaled(long)), mebibytes(self.scaled(record)));
        let mut rows = Vec::new();
        for packing in [ZSTD, Packing::Zstd(Frames::One), Packing::Raw] {
            let kind = match packing {
                Packing::Raw => "raw",
                Packing::Zstd(Frames::One) => "zstd, one frame",
                Packing::Zstd(_) => "zstd",
            };
            let plan = self.plan(Shape::Dsh, Goal::Bytes(long), packing)?;
            rows.push(self.peak(format!("verify, peak of memory, {name}, {kind}"), &plan, 64.0)?);
            let plan = self.plan(Shape::HugeRecord, Goal::Record(record), packing)?;
            let limit = 64.0 + 3.0 * (self.scaled(record) as f64) / MIB as f64;
            rows.push(self.peak(
                format!("verify, peak of memory, a record of {record_name}, {kind}"),
                &plan,
                limit,
            )?);
        }
        Ok(rows)
    }

    fn peak(&self, what: String, plan: &Plan, limit: f64) -> Result<Row> {
        let log = self.log("peak", plan)?;
        let peak = measure::peak(&mut self.dshc("verify", "1", &log))?;
        std::fs::remove_file(&log)?;
        let lacks = peak.is_none().then(|| "the system does not say".to_owned());
        let figure = peak.map(|bytes| bytes as f64 / MIB as f64);
        Ok(Row { figure, unit: Unit::Mebibytes, lacks, ..row(what, Wanted::AtMost(limit)) })
    }
}

fn mebibytes(bytes: u64) -> String {
    if bytes < MIB { format!("{} KiB", bytes >> 10) } else { format!("{} MiB", bytes / MIB) }
}

/// An archive and its logs.
struct Logs {
    root: PathBuf,
    files: Vec<PathBuf>,
}

/// Whose time stands below the line.
#[derive(Clone, Copy)]
enum Faster {
    /// The figure says how many times as fast dshc is.
    Ours,
    /// The figure says how many times as long dshc takes.
    Other,
}

fn row(what: String, wanted: Wanted) -> Row {
    Row {
        what,
        ours: None,
        other: None,
        figure: None,
        cpu_figure: None,
        unit: Unit::Times,
        wanted,
        lacks: None,
    }
}

impl Row {
    fn with(self, ours: Run, name: &'static str, other: Run, faster: Faster) -> Self {
        let ratio = |ours: f64, other: f64| match faster {
            Faster::Ours => other / ours,
            Faster::Other => ours / other,
        };
        // A hundredth of a second is the grain of processor time: a figure of few of them says nothing.
        let cpu_figure = ours
            .cpu
            .zip(other.cpu)
            .filter(|&(ours, other)| ours.min(other) >= 0.05)
            .map(|(ours, other)| ratio(ours, other));
        Self {
            ours: Some(ours),
            other: Some((name, other)),
            figure: Some(ratio(ours.wall, other.wall)),
            cpu_figure,
            ..self
        }
    }
}
