//! Why an event cannot follow the ones before it, and what readers make of a log that holds it.

use super::shape::ShapeKind;
use super::{ShapeError, SurfaceError};
use crate::format::{Format, ScanCheck};
use crate::log::Event;

/// Why an event cannot follow the ones before it. dsh refuses a log that holds it, or takes the line for damaged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The event breaks a rule of the surface.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// The event's payload is not what its type requires.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A type that no reader of this version knows, and that the log says must be understood (FORMAT §4.2).
    #[error("event type \"{0}\" is unknown in this format and not marked ignorable")]
    UnknownType(String),
    /// A type of old development builds that every reader refuses.
    #[error("event type \"{0}\" was retired before any release")]
    RetiredType(String),
}

/// What readers make of an event that breaks a rule (FORMAT §9.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// They refuse the log, if they get as far as the event.
    Refused,
    /// They take the line for damaged, and so perhaps drop it and all behind it.
    Dropped,
    /// They refuse the log even where they have dropped what stands there.
    NeverDropped,
}

impl Violation {
    /// What readers of `format` make of `event`.
    #[must_use]
    pub fn fate(&self, event: &Event, format: &Format) -> Fate {
        let dropped_by = |check| if format.checks_with_scan(check) { Fate::Dropped } else { Fate::Refused };
        match self {
            Self::Surface(SurfaceError::Sources(_)) => dropped_by(ScanCheck::Sources),
            Self::Surface(
                SurfaceError::MarkerMissing(_)
                | SurfaceError::MarkerForbidden { .. }
                | SurfaceError::MarkerKind(_)
                | SurfaceError::Dialect { .. }
                | SurfaceError::MarkerShape { .. }
                | SurfaceError::MarkerValue { .. }
                | SurfaceError::SourcesForbidden(_),
            ) => dropped_by(ScanCheck::Markers),
            Self::Surface(SurfaceError::EdgeUnknown { seq, .. }) if *seq >= event.seq => {
                dropped_by(ScanCheck::Markers)
            }
            Self::Shape(ShapeError { kind: ShapeKind::Canonical, .. }) => dropped_by(ScanCheck::Payload),
            Self::Shape(ShapeError { kind: ShapeKind::Structure, .. })
                if format.checks_with_scan(ScanCheck::Payload) =>
            {
                Fate::NeverDropped
            }
            Self::UnknownType(name) if format.never_dropped.contains(&&**name) => Fate::NeverDropped,
            Self::Surface(_) | Self::Shape(_) | Self::UnknownType(_) | Self::RetiredType(_) => Fate::Refused,
        }
    }
}
