//! Random operations, which no lowering makes: each template against the
//! interpreter, and led out at every instruction.
