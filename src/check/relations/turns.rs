//! Turns and steps: numbered without gaps, one in the other, and around what belongs to them (FORMAT §6.2, §10.2).

mod rules;

use super::here::{Here, open, shown};
pub(in crate::check) use rules::RULES;
pub(super) use rules::{OUTSIDE_STEP, OUTSIDE_TURN};
use rules::{
    STEP_END_UNMATCHED, STEP_NUMBER, STEP_OUTSIDE_TURN, STEP_WHILE_OPEN, TURN_END_IN_STEP,
    TURN_END_UNMATCHED, TURN_NUMBER, TURN_WHILE_OPEN,
};

#[cfg(test)]
mod tests;

/// The code of a turn that starts while another one has not ended.
pub(super) const WHILE_OPEN: &str = TURN_WHILE_OPEN.code;

/// What is open by what the log says.
#[derive(Debug, Default)]
pub(super) struct Turns {
    turn: Option<Open>,
    step: Option<Open>,
    /// The last turn that was started; the next one carries the number behind it.
    last_turn: u64,
    /// The last step that was started in the turn.
    last_step: u64,
    /// A boundary was lost or wrong: the next event that says what is open is believed.
    is_unsure: bool,
    /// A turn and step that are not open, and of which that has been told.
    stray: Option<(Option<u64>, Option<u64>)>,
}

/// A turn or step that has not ended.
#[derive(Debug, Clone, Copy)]
struct Open {
    number: u64,
    /// The event that started it, or the first one that named it.
    seq: u64,
}

/// The turn and step that an event, or a row of them, names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim {
    pub turn: Option<u64>,
    pub step: Option<u64>,
    /// The first event.
    pub seq: u64,
}

/// What a boundary means for the calls before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Boundary {
    /// What it ends or begins is certain.
    Sound,
    /// Something ended or began, but what is not certain.
    Unsound,
    /// Nothing ended or began.
    Nothing,
}

impl Turns {
    pub(super) fn doubt(&mut self) {
        self.is_unsure = true;
    }

    pub(super) fn start(&mut self, here: &mut Here) -> Boundary {
        let found = here.data.count("turn");
        let expected = self.last_turn + 1;
        let was_unsure = self.is_unsure;
        let is_next = self.turn.is_none() && found == Some(expected);
        if !is_next && !was_unsure {
            let number = shown(here.data.get("turn"));
            if let Some(turn) = self.turn {
                let message = format!("turn {number} starts while turn {} has not ended", turn.number);
                here.tell_relating(&TURN_WHILE_OPEN, message, turn.seq, "the turn that has not ended");
            }
            if found != Some(expected) && !self.is_open_turn(found) {
                here.tell(&TURN_NUMBER, format!("turn {number} starts where turn {expected} is next"));
            }
        }
        self.open_turn(found.unwrap_or(expected), here.event.seq);
        self.is_unsure = !is_next && !was_unsure;
        if is_next { Boundary::Sound } else { Boundary::Unsound }
    }

    pub(super) fn end(&mut self, here: &mut Here) -> Boundary {
        let found = here.data.count("turn");
        let is_open = self.is_open_turn(found);
        if is_open && self.step.is_none() {
            self.close_turn();
            self.is_unsure = false;
            return Boundary::Sound;
        }
        if std::mem::replace(&mut self.is_unsure, false) {
            self.last_turn = found.unwrap_or(self.last_turn);
            self.close_turn();
            return Boundary::Unsound;
        }
        self.is_unsure = true;
        let number = shown(here.data.get("turn"));
        if let Some(step) = self.step.filter(|_| is_open) {
            let message = format!("turn {number} ends while step {} is open", step.number);
            here.tell_relating(&TURN_END_IN_STEP, message, step.seq, "the step that has not ended");
        } else {
            here.tell(
                &TURN_END_UNMATCHED,
                format!("turn {number} ends, but {} is open", self.open_turn_name()),
            );
            // The end of a turn that is over says nothing about the open one.
            if self.turn.is_none() || found.is_some_and(|found| found < self.last_turn) {
                self.last_turn = self.last_turn.max(found.unwrap_or(0));
                return Boundary::Nothing;
            }
        }
        self.close_turn();
        Boundary::Unsound
    }

    pub(super) fn step_start(&mut self, here: &mut Here) -> Boundary {
        let (turn, step) = named(here);
        let is_in_turn = self.is_open_turn(turn);
        let expected = self.last_step + 1;
        if is_in_turn && self.step.is_none() && step == Some(expected) {
            self.open_step(expected, here.event.seq);
            self.is_unsure = false;
            return Boundary::Sound;
        }
        if std::mem::replace(&mut self.is_unsure, false) {
            self.is_unsure = !self.adopt(turn, step, here.event.seq);
            return Boundary::Unsound;
        }
        let number = shown(here.data.get("step"));
        if let Some(open) = self.step.filter(|_| is_in_turn) {
            let message = format!("step {number} starts while step {} has not ended", open.number);
            here.tell_relating(&STEP_WHILE_OPEN, message, open.seq, "the step that has not ended");
        } else if is_in_turn {
            here.tell(&STEP_NUMBER, format!("step {number} starts where step {expected} is next"));
        } else if self.stray != Some((turn, step)) {
            let of = shown(here.data.get("turn"));
            let message = format!("step {number} of turn {of} starts, but {} is open", self.open_turn_name());
            here.tell(&STEP_OUTSIDE_TURN, message);
        }
        let goes_on = self.turn.is_none() && turn == Some(self.last_turn) && step == Some(expected);
        if is_in_turn || goes_on || turn.is_some_and(|turn| turn > self.last_turn) {
            self.adopt(turn, step.or(Some(expected)), here.event.seq);
            self.is_unsure = true;
            return Boundary::Unsound;
        }
        self.stray = Some((turn, step));
        Boundary::Nothing
    }

    pub(super) fn step_end(&mut self, here: &mut Here) -> Boundary {
        let (turn, step) = named(here);
        if self.is_open(turn, step) {
            (self.step, self.is_unsure) = (None, false);
            return Boundary::Sound;
        }
        if std::mem::replace(&mut self.is_unsure, false) {
            self.is_unsure = !self.adopt(turn, step, here.event.seq);
            self.step = None;
            return Boundary::Unsound;
        }
        if self.stray == Some((turn, step)) {
            return Boundary::Nothing;
        }
        let message = format!("step/end names {}, but {}", names(here), self.open_name());
        here.tell(&STEP_END_UNMATCHED, message);
        self.is_unsure = true;
        if self.is_open_turn(turn) {
            // The end of a step that is over says nothing about the open one.
            if step.is_some_and(|step| step < self.last_step) {
                return Boundary::Nothing;
            }
            if self.step.take().is_some() {
                return Boundary::Unsound;
            }
            self.last_step = self.last_step.max(step.unwrap_or(0));
        } else if turn.is_some_and(|turn| turn > self.last_turn) && self.adopt(turn, step, here.event.seq) {
            self.step = None;
            return Boundary::Unsound;
        }
        Boundary::Nothing
    }

    /// The event must name the open turn and step. Tells whether it belongs to what is open now.
    pub(super) fn require_step(&mut self, here: &mut Here) -> bool {
        let (turn, step) = named(here);
        match self.claim(Claim { turn, step, seq: here.event.seq }) {
            Ok(belongs) => belongs,
            Err(problem) => {
                here.tell(&OUTSIDE_STEP, format!("{} names {}, but {problem}", here.name(), names(here)));
                self.is_open(turn, step)
            }
        }
    }

    /// Something must belong to the open turn and step. Tells whether it does, or else, the first time, what is open.
    pub(super) fn claim(&mut self, claim: Claim) -> Result<bool, String> {
        let Claim { turn, step, seq } = claim;
        if self.is_open(turn, step) {
            self.is_unsure = false;
            return Ok(true);
        }
        if self.is_unsure {
            self.is_unsure = !self.adopt(turn, step, seq);
            return Ok(!self.is_unsure);
        }
        if self.stray == Some((turn, step)) {
            return Ok(false);
        }
        let problem = self.open_name();
        let is_next_turn = self.turn.is_none() && turn.is_some_and(|turn| turn > self.last_turn);
        let is_next_step =
            self.is_open_turn(turn) && self.step.is_none() && step.is_some_and(|step| step > self.last_step);
        if !((is_next_turn || is_next_step) && self.adopt(turn, step, seq)) {
            self.stray = Some((turn, step));
        }
        Err(problem)
    }

    /// The open turn ends without an event that says so.
    pub(super) fn interrupt(&mut self) {
        self.close_turn();
    }

    /// Whether this turn and step are open, or may be.
    pub(super) fn may_be_open(&self, turn: Option<u64>, step: Option<u64>) -> bool {
        self.is_unsure || self.is_open(turn, step)
    }

    /// What is to be said of an event of this type, which must stand in a turn, whichever that is.
    pub(super) fn outside_turn(&self, event_type: &str, is_replacement: bool) -> Option<String> {
        let what = if is_replacement { "a replacing " } else { "" };
        (self.turn.is_none() && !self.is_unsure)
            .then(|| format!("{what}{event_type} stands outside any turn"))
    }

    /// The open turn and the step that is open in it or was last; `None` if that is not known.
    pub(super) fn current(&self) -> Option<(Option<u64>, u64)> {
        (!self.is_unsure).then(|| (self.turn.map(|turn| turn.number), self.last_step))
    }

    /// Takes it that this turn and this step are open. Tells whether they can be.
    fn adopt(&mut self, turn: Option<u64>, step: Option<u64>, seq: u64) -> bool {
        let (Some(turn), Some(step)) = (turn, step) else { return false };
        if !self.is_open_turn(Some(turn)) {
            self.open_turn(turn, seq);
        }
        self.open_step(step, seq);
        true
    }

    fn open_turn(&mut self, number: u64, seq: u64) {
        self.turn = Some(Open { number, seq });
        (self.step, self.stray) = (None, None);
        (self.last_turn, self.last_step) = (number, 0);
    }

    fn close_turn(&mut self) {
        (self.turn, self.step) = (None, None);
    }

    fn open_step(&mut self, number: u64, seq: u64) {
        self.step = Some(Open { number, seq });
        self.last_step = number;
    }

    fn is_open_turn(&self, turn: Option<u64>) -> bool {
        turn.is_some() && turn == self.turn.map(|turn| turn.number)
    }

    fn is_open(&self, turn: Option<u64>, step: Option<u64>) -> bool {
        self.is_open_turn(turn) && step.is_some() && step == self.step.map(|step| step.number)
    }

    fn open_turn_name(&self) -> String {
        open("turn", self.turn.map(|turn| turn.number))
    }

    fn open_name(&self) -> String {
        match (self.turn, self.step) {
            (Some(turn), Some(step)) => format!("turn {}, step {} is open", turn.number, step.number),
            (Some(turn), None) => format!("turn {} is open without a step", turn.number),
            (None, _) => "no turn is open".to_owned(),
        }
    }
}

fn named(here: &Here) -> (Option<u64>, Option<u64>) {
    (here.data.count("turn"), here.data.count("step"))
}

fn names(here: &Here) -> String {
    format!("turn {}, step {}", shown(here.data.get("turn")), shown(here.data.get("step")))
}
