//! How long a program takes, and how much memory.

use anyhow::{Context, Result, bail};
use std::fs;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// One or more runs of a program.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Seconds from the start to the end.
    pub wall: f64,
    /// Seconds of processor time, to a hundredth; `None` where the system does not say.
    pub cpu: Option<f64>,
}

impl Run {
    /// Without what `start` took.
    pub fn less(self, start: Self) -> Self {
        let cpu = self.cpu.zip(start.cpu).map(|(whole, start)| whole - start);
        Self { wall: self.wall - start.wall, cpu }
    }
}

/// Ticks of `/proc` in a second; Linux has shown no other number to programs for decades.
const TICKS: f64 = 100.0;
/// How often the memory of a running program is looked at. The peak only grows, so that the last look is near the truth.
const LOOK: Duration = Duration::from_millis(1);

/// Runs a program whose output nobody reads.
pub fn time(command: &mut Command) -> Result<Run> {
    let before = children_ticks();
    let begun = Instant::now();
    let status = start(command)?.wait()?;
    let wall = begun.elapsed().as_secs_f64();
    judge(command, status)?;
    let cpu = children_ticks().zip(before).map(|(after, before)| after.saturating_sub(before) as f64 / TICKS);
    Ok(Run { wall, cpu })
}

/// Runs programs in turn, so many rounds, so that what else the machine does touches all alike. The median of each.
pub fn side_by_side(commands: &mut [Command], rounds: usize) -> Result<Vec<Run>> {
    let mut runs = vec![Vec::new(); commands.len()];
    for _ in 0..rounds.max(1) {
        for (command, runs) in commands.iter_mut().zip(&mut runs) {
            runs.push(time(command)?);
        }
    }
    Ok(runs.iter().filter_map(|runs| median(runs)).collect())
}

/// The most memory that a program held at once, in bytes; `None` where the system does not say.
pub fn peak(command: &mut Command) -> Result<Option<u64>> {
    let mut child = start(command)?;
    let mut peak = None;
    let status = loop {
        peak = peak.max(resident_peak(&child));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        sleep(LOOK);
    };
    judge(command, status)?;
    Ok(peak)
}

fn start(command: &mut Command) -> Result<Child> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("{} does not start", command.get_program().display()))
}

fn judge(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("{command:?} ended with {status}: its time means nothing");
    }
    Ok(())
}

fn median(runs: &[Run]) -> Option<Run> {
    let middle = |mut figures: Vec<f64>| {
        figures.sort_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied()
    };
    let wall = middle(runs.iter().map(|run| run.wall).collect())?;
    let cpu = runs.iter().map(|run| run.cpu).collect::<Option<_>>().and_then(middle);
    Some(Run { wall, cpu })
}

/// Processor time of all children that have ended, in ticks.
fn children_ticks() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may hold blanks; user and system time of the children are fields 16 and 17.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(13)?.parse::<u64>().ok()? + fields.get(14)?.parse::<u64>().ok()?)
}

fn resident_peak(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}
