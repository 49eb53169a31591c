//! What was measured against what is wanted, as a table or as JSON.

use crate::measure::Run;
use comfy_table::{Table, presets};
use serde_json::{Value, json};
use std::io::{self, Write};

/// What a figure must not pass.
#[derive(Debug, Clone, Copy)]
pub enum Wanted {
    /// It is to be this or less.
    AtMost(f64),
    /// It is to be this or more.
    AtLeast(f64),
}

/// In what a figure is counted.
#[derive(Debug, Clone, Copy)]
pub enum Unit {
    /// Times as long, or as fast.
    Times,
    /// Milliseconds.
    Milliseconds,
    /// MiB.
    Mebibytes,
}

/// One line of the table.
#[derive(Debug)]
pub struct Row {
    /// What was done to what.
    pub what: String,
    /// What dshc took.
    pub ours: Option<Run>,
    /// What the other program is, and what it took.
    pub other: Option<(&'static str, Run)>,
    /// The figure that counts, of wall time where it is one of time; `None` where it could not be had.
    pub figure: Option<f64>,
    /// The same of processor time.
    pub cpu_figure: Option<f64>,
    /// In what they are counted.
    pub unit: Unit,
    /// What it must not pass.
    pub wanted: Wanted,
    /// Why there is no figure.
    pub lacks: Option<String>,
}

impl Row {
    /// Whether it is as wanted; `None` where there is no figure.
    pub fn is_held(&self) -> Option<bool> {
        self.figure.map(|figure| match self.wanted {
            Wanted::AtMost(limit) => figure <= limit,
            Wanted::AtLeast(limit) => figure >= limit,
        })
    }

    fn cells(&self) -> [String; 7] {
        let run = |run: Run| match run.cpu {
            Some(cpu) => format!("{:.3} s (cpu {cpu:.2})", run.wall),
            None => format!("{:.3} s", run.wall),
        };
        let held = match self.is_held() {
            Some(true) => "yes".to_owned(),
            Some(false) => "NO".to_owned(),
            None => self.lacks.clone().unwrap_or_default(),
        };
        let (word, limit) = match self.wanted {
            Wanted::AtMost(limit) => ("at most", limit),
            Wanted::AtLeast(limit) => ("at least", limit),
        };
        [
            self.what.clone(),
            self.ours.map(run).unwrap_or_default(),
            self.other.map(|(name, other)| format!("{name}: {}", run(other))).unwrap_or_default(),
            self.figure.map(|figure| self.unit.say(figure)).unwrap_or_default(),
            self.cpu_figure.map(|figure| self.unit.say(figure)).unwrap_or_default(),
            format!("{word} {}", self.unit.say(limit)),
            held,
        ]
    }

    fn json(&self) -> Value {
        let run = |run: Run| json!({ "wallSeconds": run.wall, "cpuSeconds": run.cpu });
        let (word, limit) = match self.wanted {
            Wanted::AtMost(limit) => ("atMost", limit),
            Wanted::AtLeast(limit) => ("atLeast", limit),
        };
        json!({
            "what": self.what,
            "dshc": self.ours.map(run),
            "other": self.other.map(|(name, other)| json!({ "program": name, "run": run(other) })),
            "unit": self.unit.name(),
            "figure": self.figure,
            "cpuFigure": self.cpu_figure,
            "wanted": { word: limit },
            "held": self.is_held(),
            "lacks": self.lacks,
        })
    }
}

impl Unit {
    fn say(self, figure: f64) -> String {
        match self {
            Self::Times => format!("{figure:.2} x"),
            Self::Milliseconds => format!("{figure:.1} ms"),
            Self::Mebibytes => format!("{figure:.1} MiB"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Times => "times",
            Self::Milliseconds => "milliseconds",
            Self::Mebibytes => "MiB",
        }
    }
}

/// Prints all rows for people.
pub fn table(rows: &[Row], out: &mut impl Write) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["what", "dshc", "other", "figure", "of cpu time", "wanted", "held"]);
    for row in rows {
        table.add_row(row.cells());
    }
    writeln!(out, "{table}")
}

/// Prints all rows for machines.
pub fn json(rows: &[Row], out: &mut impl Write) -> io::Result<()> {
    let rows: Vec<Value> = rows.iter().map(Row::json).collect();
    writeln!(out, "{:#}", json!({ "rows": rows }))
}
