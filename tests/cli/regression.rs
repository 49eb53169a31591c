//! Reported faults, one test each, named after the case in `fixtures/cases`.
