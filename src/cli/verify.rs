//! `dshc verify`.
