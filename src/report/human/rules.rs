//! The rules as a list, and the page of one of them.

use super::verify::style;
use crate::check::Rule;
use crate::report::printer::{BOLD, DIM};
use std::io::{self, Write};

/// Writes a line for each rule: its code, default severity, family and summary.
pub fn rules(rules: &[&Rule], out: &mut dyn Write) -> io::Result<()> {
    let width = |of: fn(&Rule) -> usize| rules.iter().map(|rule| of(rule)).max().unwrap_or_default();
    let (codes, families) = (width(|rule| rule.code.len()), width(|rule| rule.family.len()));
    for rule in rules {
        let (style, severity) = (style(rule.severity), rule.severity.as_str());
        write!(out, "{BOLD}{:codes$}{BOLD:#}  {style}{severity:7}{style:#}  ", rule.code)?;
        writeln!(out, "{DIM}{:families$}{DIM:#}  {}", rule.family, rule.summary())?;
    }
    Ok(())
}

/// Writes a rule's page in lines of at most `width` characters.
pub fn rule(rule: &Rule, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let (style, severity) = (style(rule.severity), rule.severity.as_str());
    let (code, family) = (rule.code, rule.family);
    writeln!(out, "{BOLD}{code}{BOLD:#}  {style}{severity}{style:#}, of the family {family}")?;
    for paragraph in rule.paragraphs() {
        writeln!(out)?;
        let mut is_bold = false;
        for line in wrapped(&paragraph, width) {
            marked(&line, &mut is_bold, out)?;
        }
    }
    Ok(())
}

/// What stands between two `**` is bold.
fn marked(line: &str, is_bold: &mut bool, out: &mut dyn Write) -> io::Result<()> {
    for (index, part) in line.split("**").enumerate() {
        if index > 0 {
            *is_bold = !*is_bold;
        }
        match (*is_bold, part) {
            (_, "") => {}
            (true, part) => write!(out, "{BOLD}{part}{BOLD:#}")?,
            (false, part) => write!(out, "{part}")?,
        }
    }
    writeln!(out)
}

/// The words of a paragraph in lines as full as `width` characters allow; `**` takes no room.
fn wrapped(paragraph: &str, width: usize) -> Vec<String> {
    let room = |text: &str| text.replace("**", "").chars().count();
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in paragraph.split(' ') {
        if !line.is_empty() && room(&line) + 1 + room(word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_full_as_the_width_allows() {
        assert_eq!(wrapped("**What to do.** Wait a bit.", 16), ["**What to do.** Wait", "a bit."]);
        assert_eq!(wrapped("unbreakable words", 4), ["unbreakable", "words"]);
        assert_eq!(wrapped("", 4), [""]);
    }

    #[test]
    fn a_lead_is_bold_over_line_ends() {
        let mut out = Vec::new();
        let mut is_bold = false;
        for line in ["**What", "to do.** Wait."] {
            marked(line, &mut is_bold, &mut out).unwrap();
        }
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out, format!("{BOLD}What{BOLD:#}\n{BOLD}to do.{BOLD:#} Wait.\n"));
    }
}
