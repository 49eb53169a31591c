//! Requests as known servers get them, streams as servers send them, written by hand, and whole calls of a server
//! that says what it is told to.

mod bodies;
mod calls;
mod server;
mod streams;
