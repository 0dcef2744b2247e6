//! Integration tests of the logics: one executable, one module per subject.

mod book;
mod common;
mod earliest;
mod expressions;
mod finite;
mod independent;
mod past;
mod patterns;
mod sizes;
mod states;
mod tables;
mod timed;
mod tools;
