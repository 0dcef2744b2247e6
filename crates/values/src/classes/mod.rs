//! Values of class types and enumerations: base classes, trait objects, the variants of
//! Rust's enumerations, pointers to members.

pub mod member_pointer;
pub mod trait_objects;
pub mod upcast;
pub mod variant;
