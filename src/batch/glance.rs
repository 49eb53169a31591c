//! Looking at many logs where that is too little work to be told of: at their headers.

use super::isolation::isolated;
use rayon::prelude::*;

/// Looks at each of `logs`, `jobs` at a time. What comes back is in their order; of a look that panicked, its message.
pub fn glance<L: Sync, T: Send>(
    logs: &[L],
    jobs: usize,
    look: impl Fn(&L) -> T + Sync,
) -> Vec<Result<T, String>> {
    let look = |log| isolated(|| look(log));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.clamp(1, logs.len().max(1))).build();
    match pool {
        Ok(pool) => pool.install(|| logs.par_iter().map(look).collect()),
        // The system gives no threads.
        Err(_) => logs.iter().map(look).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_back_in_order_and_panics_with_their_messages() {
        let logs: Vec<u32> = (0..100).collect();
        for jobs in [0, 1, 3] {
            let seen = glance(&logs, jobs, |log| {
                assert!(*log != 7, "no sevens");
                log * 2
            });
            let odd = seen[7].as_ref().unwrap_err();
            assert!(odd.starts_with("no sevens ("), "{odd}");
            let sound: Vec<u32> = seen.into_iter().flatten().collect();
            assert_eq!(sound, (0..100).filter(|log| *log != 7).map(|log| log * 2).collect::<Vec<_>>());
        }
        assert!(glance(&[0_u32; 0], 4, |log| *log).is_empty());
    }
}
