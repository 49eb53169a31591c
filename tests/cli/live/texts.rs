//! What a model may say.

/// A summary with all its sections.
pub const SUMMARY: &str = "\
## Primary Request and Intent
- Make the demo work as the first prompt asks.

## Key Technical Concepts
- A small command-line tool.

## Files and Code
- src/main.rs: the entry point.

## Errors and Fixes
(none)

## Pending Jobs
(none)

## Current Work
- The last change was tested.

## Next Step
- Go on with the next prompt.

## Critical Context
(none)";
