//! Test helper: compiles small programs in several ways and runs juror on them.
