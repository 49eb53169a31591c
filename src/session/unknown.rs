//! Event types that no table has: whether they may be passed over, and who may have written them.

use crate::format::{self, Format};
use crate::json;
use crate::log::Event;
use std::collections::BTreeMap;

/// Which event types that dshc does not know, and that the log says must be understood, may be passed over. dsh
/// never does that (FORMAT §4.2): what is shown then is what can be understood.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Unknown {
    /// None.
    #[default]
    Refused,
    /// These.
    Allowed(Vec<String>),
    /// All.
    AllAllowed,
}

impl Unknown {
    pub(super) fn allows(&self, event_type: &str) -> bool {
        match self {
            Self::Refused => false,
            Self::Allowed(types) => types.iter().any(|allowed| allowed == event_type),
            Self::AllAllowed => true,
        }
    }
}

/// Events of unknown types that were passed over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnknownEvents {
    /// Those that the log says may be passed over: by type, how many, and the first of them.
    pub ignorable: BTreeMap<String, (u64, u64)>,
    /// Those that must be understood and were allowed all the same.
    pub required: BTreeMap<String, (u64, u64)>,
    /// How many events of either kind are of further types.
    pub others: u64,
}

impl UnknownEvents {
    /// How many types are told apart: a log of nothing but new types must not fill the memory.
    const MOST: usize = 100;

    pub(super) fn passed_over(&mut self, event: &Event) {
        let events = if event.ignorable { &mut self.ignorable } else { &mut self.required };
        let event_type = json::clip(&event.event_type);
        if let Some((count, _)) = events.get_mut(&*event_type) {
            *count += 1;
        } else if events.len() < Self::MOST {
            events.insert(event_type.into_owned(), (1, event.seq));
        } else {
            self.others += 1;
        }
    }
}

/// Who may have written an event of a type that `format` does not have, as far as its name tells.
#[must_use]
pub fn origin(event_type: &str, format: &Format) -> String {
    let versions: Vec<String> = format::knowing(event_type).map(|version| version.to_string()).collect();
    match (versions.as_slice(), event_type.split_once('/')) {
        ([], Some((family, _))) if !family.is_empty() => {
            format!("a plugin or program that calls itself {}, or a newer dsh, wrote it", json::quote(family))
        }
        ([], _) => "a plugin or a newer dsh wrote it".into(),
        ([version], _) => format!("it belongs to log format {version}, not to {}", format.version),
        (versions, _) => {
            format!("it belongs to log formats {}, not to {}", versions.join(", "), format.version)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_who_wrote_them() {
        let origin = |event_type| origin(event_type, format::of(0).unwrap());
        assert!(origin("acme-fallbacks/switch").contains("\"acme-fallbacks\""));
        assert_eq!(origin("system/message"), "it belongs to log formats 3, 4, not to 0");
        assert_eq!(origin("developer/message"), "it belongs to log format 4, not to 0");
        assert_eq!(origin("odd"), "a plugin or a newer dsh wrote it");
    }
}
