//! What a user makes of a rule's findings.

use super::opening;
use super::registry::{Rule, rule};
use super::{Finding, Severity};
use std::collections::HashMap;

/// What becomes of the findings of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// They are left out.
    Off,
    /// They have this severity, whatever excuses the log holds for them.
    Severity(Severity),
}

/// The rules whose findings a user wants otherwise than they come.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    by_code: HashMap<&'static str, Setting>,
}

/// Why a rule cannot be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// There is no rule of that name.
    #[error("there is no rule of that name")]
    Unknown,
    /// It tells that a log cannot be checked at all.
    #[error("this rule cannot be set: it tells that a log cannot be checked at all")]
    Fixed,
}

impl Settings {
    /// Sets a rule; the last setting of a rule counts.
    pub fn set(&mut self, code: &str, setting: Setting) -> Result<(), SettingError> {
        let rule: &Rule = rule(code).ok_or(SettingError::Unknown)?;
        if opening::RULES.contains(&rule) {
            return Err(SettingError::Fixed);
        }
        self.by_code.insert(rule.code, setting);
        Ok(())
    }

    /// The findings as the user wants them, in the same order.
    pub fn apply(&self, findings: &mut Vec<Finding>) {
        findings.retain_mut(|finding| match self.by_code.get(finding.code) {
            Some(Setting::Off) => false,
            Some(Setting::Severity(severity)) => {
                finding.severity = *severity;
                true
            }
            None => true,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Place;

    #[test]
    fn findings_are_dropped_or_weighed_anew() {
        let mut settings = Settings::default();
        settings.set("crlf", Setting::Off).unwrap();
        settings.set("torn-tail", Setting::Off).unwrap();
        settings.set("torn-tail", Setting::Severity(Severity::Note)).unwrap();
        assert_eq!(settings.set("crl", Setting::Off), Err(SettingError::Unknown));
        assert_eq!(settings.set("empty-file", Setting::Off), Err(SettingError::Fixed));
        let finding = |code| Finding::new(rule(code).unwrap(), Place::default(), "m");
        let mut findings = vec![finding("crlf"), finding("torn-tail"), finding("frame-magic")];
        settings.apply(&mut findings);
        let left: Vec<_> = findings.iter().map(|finding| (finding.code, finding.severity)).collect();
        assert_eq!(left, [("torn-tail", Severity::Note), ("frame-magic", Severity::Error)]);
    }
}
