use juror_fuzzing::smoke::smoke;
use juror_fuzzing::targets::Target;
use std::time::Duration;

fn fails_at_a_long_input(bytes: &[u8]) {
    assert!(bytes.len() < 20, "the input is too long");
}

#[test]
fn a_failing_input_is_kept() {
    let directory = std::env::temp_dir().join(format!("fuzz-smoke-{}", std::process::id()));
    let target = Target {
        name: "long",
        length_max: 64,
        run: fails_at_a_long_input,
    };
    let failed = smoke(
        target,
        vec![b"abc".to_vec()],
        Duration::from_secs(600),
        &directory,
    );
    assert!(failed.is_err_and(|words| words.starts_with("long fails; the input is ")));
    assert!(std::fs::read(&directory).is_ok_and(|kept| kept.len() >= 20));
    assert!(std::fs::remove_file(&directory).is_ok());
}

#[test]
fn all_first_inputs_are_taken() {
    let first = vec![b"abc".to_vec(); 7];
    let target = Target {
        name: "long",
        length_max: 64,
        run: fails_at_a_long_input,
    };
    let count = smoke(target, first, Duration::ZERO, "unused".as_ref());
    assert_eq!(count, Ok(7));
}
