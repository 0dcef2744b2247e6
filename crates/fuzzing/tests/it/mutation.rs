use juror_fuzzing::mutation::{Random, mutate};

#[test]
fn the_same_seed_makes_the_same_inputs_of_at_most_the_length() {
    let others = vec![b"property".to_vec(), vec![0; 300], Vec::new()];
    for seed in 0..1000 {
        let made = [(); 2].map(|()| {
            let mut random = Random::new(seed);
            let mut input = b"event a = before f(x)".to_vec();
            for _ in 0..20 {
                mutate(&mut input, &others, 64, &mut random);
                assert!(input.len() <= 64);
            }
            input
        });
        assert_eq!(made[0], made[1]);
    }
}

#[test]
fn no_input_and_no_others_are_changed_without_a_panic() {
    let mut random = Random::new(1);
    for _ in 0..1000 {
        let mut input = Vec::new();
        mutate(&mut input, &[], 8, &mut random);
    }
}
