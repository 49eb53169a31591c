//! One machine's share of a run: which logs are its own.

use super::{Found, FoundLog};
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

/// The `index`-th of `of` shares of a run's files, from 1.
///
/// A file belongs to the share that its path names, so that each is in exactly one, whatever else is there. Machines
/// that name the same folder share it out alike, wherever it is mounted: the path counts from the folder on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    of: u32,
}

/// Why a text names no share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("want K/N, the K-th of N shares: whole numbers, K from 1 to N, N at most a million")]
pub struct NoShard;

impl Shard {
    /// Into how many shares a run can be cut. Kubernetes starts 100,000 pods of a job at a time, Slurm fewer.
    const MOST: u32 = 1_000_000;

    /// The `index`-th of `of` shares; `None` unless it is from 1 to `of`, and `of` at most a million.
    #[must_use]
    pub fn new(index: u32, of: u32) -> Option<Self> {
        ((1..=of).contains(&index) && of <= Self::MOST).then_some(Self { index, of })
    }

    /// Which share it is, from 1.
    #[must_use]
    pub fn index(self) -> u32 {
        self.index
    }

    /// How many shares there are.
    #[must_use]
    pub fn of(self) -> u32 {
        self.of
    }

    /// Whether the file at `path`, counted from the folder that the user named, is in this share.
    #[must_use]
    pub fn holds(self, path: &Path) -> bool {
        let hash = blake3::hash(portable(path).as_bytes());
        let number = hash.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        number % u64::from(self.of) == u64::from(self.index - 1)
    }
}

/// The path as every platform spells it: `/` between its parts, no `.` among them.
fn portable(path: &Path) -> String {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::RootDir => parts.push("".into()),
            other => parts.push(other.as_os_str().to_string_lossy()),
        }
    }
    parts.join("/")
}

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let (index, of) = text.split_once('/').ok_or(NoShard)?;
        let number = |text: &str| text.parse().map_err(|_| NoShard);
        Self::new(number(index)?, number(of)?).ok_or(NoShard)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl Found {
    /// What `shard` has of it, and the logs that the other shares have. `named` are the paths that it was found by.
    #[must_use]
    pub fn share(self, shard: Shard, named: &[PathBuf]) -> (Self, Vec<FoundLog>) {
        let (logs, others) = self.logs.into_iter().partition(|log| shard.holds(log.shared_by()));
        let ignored = self.ignored.into_iter().filter(|path| shard.holds(below(path, named))).collect();
        (Self { logs, ignored }, others)
    }
}

impl FoundLog {
    /// The path by which the log is shared out: counted from the folder below which it was found.
    fn shared_by(&self) -> &Path {
        self.below.as_ref().and_then(|below| self.path.strip_prefix(below).ok()).unwrap_or(&self.path)
    }
}

/// The path counted from the innermost of the folders `named` that it lies below.
fn below<'a>(path: &'a Path, named: &[PathBuf]) -> &'a Path {
    let within = named.iter().filter_map(|folder| path.strip_prefix(folder).ok());
    within.min_by_key(|rest| rest.components().count()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_share_is_spelt_as_it_is_read() {
        assert_eq!("2/5".parse::<Shard>().map(|shard| shard.to_string()), Ok("2/5".to_owned()));
        for odd in
            ["", "1", "/", "0/3", "4/3", "0/0", "-1/3", "1/3/5", "1.0/3", "1/1000001", "1/4294967296", "a/b"]
        {
            assert_eq!(odd.parse::<Shard>(), Err(NoShard), "{odd}");
        }
    }

    #[test]
    fn the_share_of_a_path_never_changes() {
        let index = |path: &str, of| {
            (1..=of).find(|index| Shard::new(*index, of).unwrap().holds(Path::new(path))).unwrap()
        };
        let paths = ["p/a/session.jsonl", "p/b/session.jsonl", "--home-ada--/会话/session.v3.jsonl.zstd", ""];
        assert_eq!(paths.map(|path| index(path, 7)), [5, 3, 4, 2]);
        assert_eq!(index("./p//a/./session.jsonl", 7), index("p/a/session.jsonl", 7));
        assert_ne!(portable(Path::new("/p")), portable(Path::new("p")));
    }

    #[test]
    fn a_log_is_shared_out_by_its_path_below_the_folder_that_was_named() {
        let log = |path: &str, below: Option<&str>| FoundLog {
            path: path.into(),
            below: below.map(PathBuf::from),
            spot: None,
        };
        assert_eq!(log("/mnt/x/p/a.jsonl", Some("/mnt/x")).shared_by(), Path::new("p/a.jsonl"));
        assert_eq!(log("./p/a.jsonl", None).shared_by(), Path::new("./p/a.jsonl"));
        let named = ["/mnt/x".into(), "/mnt/x/p".into(), "q".into()];
        assert_eq!(below(Path::new("/mnt/x/p/old/a.jsonl"), &named), Path::new("old/a.jsonl"));
        assert_eq!(below(Path::new("elsewhere/a.jsonl"), &named), Path::new("elsewhere/a.jsonl"));
    }

    proptest! {
        #[test]
        fn each_file_is_in_exactly_one_share(
            paths in prop::collection::btree_set("[a-c./会-]{1,12}", 0..20),
            of in 1u32..40,
        ) {
            let shards: Vec<Shard> = (1..=of).map(|index| Shard::new(index, of).unwrap()).collect();
            for path in &paths {
                prop_assert_eq!(shards.iter().filter(|shard| shard.holds(Path::new(path))).count(), 1);
            }
            let logs: Vec<FoundLog> =
                paths.iter().map(|path| FoundLog { path: path.into(), below: None, spot: None }).collect();
            let ignored: Vec<PathBuf> = paths.iter().map(|path| format!("x/{path}").into()).collect();
            let (mut own, mut told) = (Vec::new(), Vec::new());
            for shard in shards {
                let found = Found { logs: logs.clone(), ignored: ignored.clone() };
                let (share, others) = found.share(shard, &["x".into()]);
                prop_assert_eq!(share.logs.len() + others.len(), logs.len());
                own.extend(share.logs);
                told.extend(share.ignored);
            }
            own.sort_by(|left, right| left.path.cmp(&right.path));
            let mut all = logs;
            all.sort_by(|left, right| left.path.cmp(&right.path));
            prop_assert_eq!(own.len(), all.len());
            told.sort();
            let mut ignored = ignored;
            ignored.sort();
            prop_assert_eq!(told, ignored);
        }
    }
}
