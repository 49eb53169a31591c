//! Which of the two sets of rules the tool calls of a log are held to.

use super::here::Here;
use super::started::Started;
use super::tools::Tools;
use super::turns::Boundary;
use crate::format::CallRule;

/// The calls of the open step, by the rule of the log's version.
#[derive(Debug)]
pub(super) enum Calls {
    Started(Started),
    Advertised(Tools),
}

impl Calls {
    pub(super) fn new(rule: CallRule) -> Self {
        match rule {
            CallRule::Started => Self::Started(Started::default()),
            CallRule::Advertised => Self::Advertised(Tools::default()),
        }
    }

    pub(super) fn doubt(&mut self) {
        match self {
            Self::Started(started) => started.doubt(),
            Self::Advertised(tools) => tools.doubt(),
        }
    }

    /// A turn or step begins.
    pub(super) fn open(&mut self, boundary: Boundary) {
        match self {
            // Those that have started go on until the step ends.
            Self::Started(_) => {}
            Self::Advertised(tools) => tools.open(boundary),
        }
    }

    /// A turn ends.
    pub(super) fn close_turn(&mut self, boundary: Boundary, here: &mut Here) {
        match self {
            Self::Started(_) => {}
            Self::Advertised(tools) => tools.close(boundary, here),
        }
    }

    /// A step ends.
    pub(super) fn close_step(&mut self, boundary: Boundary, here: &mut Here) {
        match self {
            Self::Started(started) => started.close(boundary),
            Self::Advertised(tools) => tools.close(boundary, here),
        }
    }

    /// An assistant message may make calls.
    pub(super) fn advertise(&mut self, is_in_step: bool, here: &mut Here) {
        match self {
            Self::Started(_) => {}
            Self::Advertised(tools) => tools.advertise(is_in_step, here),
        }
    }

    /// A call starts.
    pub(super) fn call(&mut self, is_in_step: bool, here: &mut Here) {
        match self {
            Self::Started(started) => started.call(here),
            Self::Advertised(tools) => tools.call(is_in_step, here),
        }
    }

    /// A result is appended.
    pub(super) fn result(&mut self, is_in_step: bool, here: &mut Here) {
        match self {
            Self::Started(started) => started.result(is_in_step, here),
            Self::Advertised(tools) => tools.result(is_in_step, here),
        }
    }

    /// The number in the id of the last result, if it answered a call that never started.
    pub(super) fn take_repaired(&mut self) -> Option<u64> {
        match self {
            Self::Started(_) => None,
            Self::Advertised(tools) => tools.take_repaired(),
        }
    }
}
