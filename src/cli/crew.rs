//! The work of a command on many logs, between the user's wishes and the engine.

use super::watching::Interrupt;
use crate::batch::{self, Crew, Ended, Permits, Running, Task};
use crate::report::Printer;
use anyhow::{Context, Result};
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread;

/// As many jobs as the user wants, else as the system lets this process use cores.
pub(super) fn jobs(wanted: Option<NonZeroUsize>) -> usize {
    let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    wanted.map_or_else(cores, NonZeroUsize::get)
}

/// Threads for the logs of a run.
pub(super) struct Hands {
    jobs: usize,
    waiting: usize,
    /// One for each job, for what the work waits for outside this machine.
    pub(super) cores: Permits,
}

/// What came of the work.
pub(super) struct Worked<T> {
    /// In the order of the logs.
    pub(super) ended: Vec<Ended<T>>,
    /// Whether the user, or the system, wanted it to end.
    pub(super) is_interrupted: bool,
}

impl Hands {
    pub(super) fn new(jobs: usize) -> Self {
        Self { jobs, waiting: 0, cores: Permits::new(jobs) }
    }

    /// The same, where so many logs can wait for something beside those that are worked on.
    pub(super) fn and_waiting(self, waiting: usize) -> Self {
        Self { waiting, ..self }
    }

    /// Works on each log; Ctrl-C ends it early, once what is at work can stop.
    pub(super) fn work<L: Task, T: Send>(
        &self,
        tasks: &[L],
        printer: Printer,
        work: impl Fn(&L, &Running) -> T + Sync,
    ) -> Result<Worked<T>> {
        // Who waits for the other end of a pipe cannot be asked to stop: such a run ends as the system ends it.
        let can_stop = tasks.iter().all(|task| !can_wait_for_ever(task.path()));
        let interrupt = if can_stop { Interrupt::listen() } else { Ok(Interrupt::default()) };
        let interrupt = interrupt.context("cannot listen for Ctrl-C")?;
        let progress = printer.progress();
        let (cores, stop) = (&self.cores, interrupt.stop());
        let crew = Crew { jobs: self.jobs, cores, waiting: self.waiting, stop, progress: &progress };
        let ended = batch::run(tasks, &crew, work);
        Ok(Worked { ended, is_interrupted: interrupt.work_is_over() })
    }
}

/// Whether reading this may wait for a writer that never comes: standard input, a pipe, a device.
fn can_wait_for_ever(path: &Path) -> bool {
    path == Path::new("-") || path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}
