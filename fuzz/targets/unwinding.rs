#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| juror_fuzzing::targets::unwinding::fuzz(bytes));
