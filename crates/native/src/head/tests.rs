//! Heads of known code, and of random bytes.
