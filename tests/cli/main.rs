//! Drives the binary as a user would: one module a command, `regression` for reported faults, `official` for the
//! reader that everything is held against.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod accounts;
mod batch;
mod break_lock;
mod bytes;
mod command;
mod compact;
mod compact_schema;
mod crash;
mod damage;
mod deaths;
mod drop;
mod encodings;
mod formats;
mod frames;
mod generated;
mod golden;
mod identifiers;
mod journal;
mod live;
mod mend;
mod merge_reports;
mod mutations;
mod official;
mod path_lists;
mod permissions;
mod places;
mod pressure;
mod prune;
mod reasons;
mod regression;
mod repack;
mod replay;
mod rivals;
mod rules;
mod sandbox;
mod schemas;
mod sharing;
mod signals;
mod stats;
mod task_kept;
mod tokens;
mod upgrade;
mod verify;
