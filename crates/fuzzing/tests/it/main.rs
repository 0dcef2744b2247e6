//! The inputs of the smoke, and what it does with them.

mod mutation;
mod smoke;
