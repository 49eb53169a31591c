//! The work on many logs: who does which, and what comes back.

use super::FoundLog;
use super::isolation::isolated;
use super::permits::Permits;
use crate::log::Stop;
use crate::report::{Line, Progress};
use std::cmp::Reverse;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a thread of a crew may use of the stack, in bytes: as much as the main thread of most systems.
const STACK: usize = 8 << 20;

/// Who works on the logs of a run.
#[derive(Clone, Copy)]
pub struct Crew<'a> {
    /// How many logs are worked on at once.
    pub jobs: usize,
    /// One permit for each of the jobs. Work that lends its permit, while it waits for what is no work of this machine,
    /// lets another log be begun.
    pub cores: &'a Permits,
    /// How many logs can wait like that, beside those that are worked on.
    pub waiting: usize,
    /// Once asked, no log is begun.
    pub stop: &'a Stop,
    /// Who is told how far the run is.
    pub progress: &'a Progress,
}

/// One log to work on.
pub trait Task: Sync {
    /// The log's path.
    fn path(&self) -> &Path;
}

impl Task for FoundLog {
    fn path(&self) -> &Path {
        &self.path
    }
}

/// A log while it is worked on.
pub struct Running<'a> {
    line: Line<'a>,
    stop: &'a Stop,
}

impl Running<'_> {
    /// A part of the work on it is begun.
    pub fn stage(&self, stage: &str) {
        self.line.stage(stage);
    }

    /// So many tokens have come in since that.
    pub fn received(&self, tokens: u64) {
        self.line.received(tokens);
    }

    /// Whether the run is to end.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.stop.is_asked()
    }

    /// The wish itself, for what reads the log.
    #[must_use]
    pub fn stop(&self) -> &Stop {
        self.stop
    }
}

/// How the work on a log ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended<T> {
    /// It came to its end, good or bad.
    Done(T),
    /// It panicked, with this message. Others went on.
    Panicked(String),
    /// The run was to end before it.
    NotBegun,
}

/// Works on each log, the largest first, `crew.jobs` at a time, in threads of their own. What comes back is in the order
/// of `tasks`, whoever was done first.
pub fn run<L: Task, T: Send>(
    tasks: &[L],
    crew: &Crew,
    work: impl Fn(&L, &Running) -> T + Sync,
) -> Vec<Ended<T>> {
    let sizes: Vec<u64> = tasks.iter().map(|task| size(task.path())).collect();
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|index| Reverse(sizes.get(*index).copied()));
    crew.progress.begin(tasks.len(), sizes.iter().fold(0, |sum, size| sum.saturating_add(*size)));

    let next = AtomicUsize::new(0);
    let is_cancelled = || crew.stop.is_asked();
    let shift = || {
        let mut ended = Vec::new();
        while let Some(_core) = crew.cores.take(&is_cancelled) {
            let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let Some(task) = tasks.get(index) else { break };
            let line = crew.progress.log(task.path(), sizes.get(index).copied().unwrap_or_default());
            let running = Running { line, stop: crew.stop };
            ended.push((index, isolated(|| work(task, &running))));
        }
        ended
    };
    let threads = crew.jobs.max(1).saturating_add(crew.waiting).min(tasks.len());
    let shifts = in_threads(threads, &shift);

    let mut all: Vec<Ended<T>> = tasks.iter().map(|_| Ended::NotBegun).collect();
    for (index, done) in shifts.into_iter().flatten() {
        if let Some(ended) = all.get_mut(index) {
            *ended = done.map_or_else(Ended::Panicked, Ended::Done);
        }
    }
    crew.progress.end();
    all
}

/// Does the work in so many threads at once; in this one alone where the system gives none.
fn in_threads<T: Send>(threads: usize, shift: &(impl Fn() -> T + Sync)) -> Vec<T> {
    if threads == 0 {
        return Vec::new();
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK)
        .thread_name(|index| format!("job {}", index + 1))
        .build();
    pool.map_or_else(|_| vec![shift()], |pool| pool.broadcast(|_| shift()))
}

/// The log's size in bytes, which is about what it costs; 0 where it cannot be told.
fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |meta| if meta.is_file() { meta.len() } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;
    use std::sync::{Barrier, Mutex};

    impl Task for PathBuf {
        fn path(&self) -> &Path {
            self
        }
    }

    /// Works on `tasks` with so many jobs.
    fn with_jobs<T: Send>(
        jobs: usize,
        tasks: &[PathBuf],
        work: impl Fn(&PathBuf, &Running) -> T + Sync,
    ) -> Vec<Ended<T>> {
        let (stop, progress, cores) = (Stop::default(), Progress::hidden(), Permits::new(jobs));
        run(tasks, &Crew { jobs, cores: &cores, waiting: 0, stop: &stop, progress: &progress }, work)
    }

    fn names(count: usize) -> Vec<PathBuf> {
        (0..count).map(|index| index.to_string().into()).collect()
    }

    #[test]
    fn results_stand_in_the_order_of_the_logs() {
        let tasks = names(100);
        let expected: Vec<Ended<PathBuf>> = tasks.iter().cloned().map(Ended::Done).collect();
        for jobs in [1, 2, 8] {
            assert_eq!(with_jobs(jobs, &tasks, |task, _| task.clone()), expected);
        }
        assert_eq!(with_jobs(3, &[], |task, _| task.clone()), []);
    }

    #[test]
    fn the_largest_log_is_begun_first() {
        let folder = tempfile::tempdir().unwrap();
        let tasks: Vec<PathBuf> = [("a", 1), ("b", 300), ("c", 20), ("d", 20), ("e", 0)]
            .map(|(name, size)| {
                let path = folder.path().join(name);
                fs::write(&path, vec![b'x'; size]).unwrap();
                path
            })
            .to_vec();
        let begun = Mutex::new(String::new());
        with_jobs(1, &tasks, |task, _| {
            begun.lock().unwrap().push_str(task.file_name().unwrap().to_str().unwrap());
        });
        assert_eq!(begun.into_inner().unwrap(), "bcdae");
    }

    #[test]
    fn as_many_logs_are_worked_on_at_once_as_there_are_jobs() {
        // No thread passes before all have come.
        let meet = Barrier::new(3);
        assert_eq!(with_jobs(3, &names(3), |_, _| meet.wait()).len(), 3);
    }

    #[test]
    fn a_panic_is_the_end_of_its_log_alone() {
        for jobs in [1, 2] {
            let ended = with_jobs(jobs, &names(5), |task, _| {
                assert!(task != Path::new("2"), "no twos");
                true
            });
            let Ended::Panicked(message) = &ended[2] else { panic!("{ended:?}") };
            assert!(message.starts_with("no twos (") && message.contains("crew.rs"), "{message}");
            assert_eq!(ended.iter().filter(|end| **end == Ended::Done(true)).count(), 4);
        }
    }

    #[test]
    fn once_the_run_is_to_end_no_log_is_begun() {
        let ended = with_jobs(1, &names(4), |task, running| {
            if task == Path::new("1") {
                running.stop().ask();
            }
            running.is_cancelled()
        });
        assert_eq!(ended, [Ended::Done(false), Ended::Done(true), Ended::NotBegun, Ended::NotBegun]);
    }

    #[test]
    fn who_waits_for_others_holds_no_core() {
        let (stop, progress, cores) = (Stop::default(), Progress::hidden(), Permits::new(1));
        let crew = Crew { jobs: 1, cores: &cores, waiting: 1, stop: &stop, progress: &progress };
        let meet = Barrier::new(2);
        let ended = run(&names(2), &crew, |_, _| {
            let is_cancelled = || false;
            let _lent = cores.lend(&is_cancelled);
            meet.wait();
        });
        assert_eq!(ended, [Ended::Done(()), Ended::Done(())]);
    }
}
