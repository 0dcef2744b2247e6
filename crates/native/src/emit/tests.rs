//! Stubs on the toy processor.
