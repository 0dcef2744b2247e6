//! Displacements against their definition, and placements against theirs.

use super::*;
use crate::head::{BranchTargets, Place, Site, Text};
use proptest::prelude::*;
use std::time::Instant;

fn constraint() -> impl Strategy<Value = Constraint> {
    let allowed = prop_oneof![
        3 => Just(Allowed::Any),
        3 => Just(Allowed::Trapping),
        1 => any::<u8>().prop_map(Allowed::Shared),
    ];
    prop::array::uniform4(allowed).prop_map(|allowed| Constraint { allowed })
}

/// A module at the usual place, with the ranges around it free.
fn free_around(module: u64) -> Vec<Range<u64>> {
    vec![
        0x10000..module,
        module + 0x40_0000..module + 0x7f0_0000,
        module + 0x800_0000..0x7fff_ffff_f000,
    ]
}

fn request(jump: u64, constraint: Constraint, size: u64) -> Request {
    Request {
        jump,
        constraint,
        size,
        reach: 0..u64::MAX,
    }
}

#[test]
fn trapping_bytes_are_sorted() {
    assert!(TRAPPING.is_sorted());
}

#[test]
fn invalid_opcodes_are_invalid_with_any_tail() {
    let valid = [0xcc, 0xf4, 0xfa, 0xfb];
    for byte in TRAPPING.into_iter().filter(|byte| !valid.contains(byte)) {
        for tail in 0..=255u8 {
            let code = [
                byte,
                tail,
                tail.wrapping_mul(7),
                1,
                2,
                3,
                4,
                5,
                6,
                7,
                8,
                9,
                10,
                11,
                12,
            ];
            let mut decoder = iced_x86::Decoder::new(64, &code, 0);
            assert!(decoder.decode().is_invalid(), "{byte:#x} {tail:#x}");
        }
    }
}

#[test]
fn a_constrained_top_byte_leaves_23_windows() {
    let top = Constraint::at_boundaries([0, 1, 4]);
    assert_eq!(top.windows(0x5555_5555_0000).count(), 23);
    assert_eq!(Constraint::default().windows(0x5555_5555_0000).count(), 256);
}

#[test]
fn boundaries_behind_the_jump_constrain_nothing() {
    assert_eq!(Constraint::at_boundaries([0, 5, 9]).count(), 0);
}

#[test]
fn two_thousand_stubs_are_placed_quickly() {
    let module = 0x7f00_1000_0000;
    let boundaries: [&[u64]; 6] = [
        &[0, 1, 4],
        &[0, 2, 4],
        &[0, 4],
        &[0],
        &[0, 3],
        &[0, 1, 2, 3, 4],
    ];
    let requests: Vec<Request> = (0..2000)
        .map(|at| {
            let these = boundaries[at % boundaries.len()].iter().copied();
            request(
                module + 96 * at as u64,
                Constraint::at_boundaries(these),
                400,
            )
        })
        .collect();
    let mut placement = Placement::new(&free_around(module));
    let start = Instant::now();
    let placed = placement.place_all(&requests);
    let elapsed = start.elapsed();
    println!("2 000 stubs placed in {elapsed:?}");
    assert!(placed.iter().all(Option::is_some));
    assert!(elapsed.as_millis() < 500, "{elapsed:?}");
}

#[test]
fn what_is_excluded_is_not_given() {
    let mut placement = Placement::new(&[0x1000..0x5000, 0x8000..0x9000]);
    for gone in [0x2000..0x3000, 0x4800..0x8800, 0x0..0x1100, 0xa000..0xb000] {
        placement.exclude(&gone);
    }
    let request = Request {
        jump: 0x3000,
        constraint: Constraint::default(),
        size: 0x700,
        reach: 0..u64::MAX,
    };
    let mut found: Vec<u64> = std::iter::from_fn(|| placement.place(&request)).collect();
    found.sort_unstable();
    // 0x1100..0x2000, 0x3000..0x4800 and 0x8800..0x9000.
    assert_eq!(found.len(), 2 + 3 + 1, "{found:x?}");
    for at in found {
        let within = |free: &std::ops::Range<u64>| free.start <= at && at + 0x700 <= free.end;
        let free = [0x1100..0x2000, 0x3000..0x4800, 0x8800..0x9000];
        assert!(free.iter().any(within), "{at:#x}");
    }
}

/// Branches whose addresses are equal but for the upper bits are predicted badly.
#[test]
fn a_stub_is_not_where_its_branches_are_confused_with_the_code_around_the_jump() {
    let jump = 0x55_5555_51a9_u64;
    let mirror = jump - 0x480_0000;
    for (free, expected) in [
        (mirror - 0x2000..mirror + 0x2000, mirror - 0x2000),
        (mirror - 0x1000..mirror + 0x2000, mirror - 0x1000),
        (mirror - 0xfff..mirror + 0x2000, mirror + 0x1000),
        (mirror..mirror + 0x2000, mirror + 0x1000),
        (mirror + 0x1_0000..mirror + 0x2_0000, mirror + 0x1_1000),
        // Only what is far from the jump itself is free.
        (mirror - 63..mirror + 0x1000, mirror + 64),
        (mirror - 0x800..mirror + 0x1000, mirror - 0x800),
        // Nothing else is free.
        (mirror - 10..mirror + 110, mirror - 10),
    ] {
        let request = request(jump, Constraint::default(), 100);
        let placed = Placement::new(std::slice::from_ref(&free)).place(&request);
        assert_eq!(placed, Some(expected), "{free:x?}");
    }
}

/// Checks placed stubs against the definition.
fn check_placed(free: &[Range<u64>], requests: &[Request]) -> Result<(), TestCaseError> {
    let placed = Placement::new(free).place_all(requests);
    let mut taken: Vec<Range<u64>> = Vec::new();
    for (request, stub) in requests.iter().zip(placed) {
        let Some(stub) = stub else { continue };
        let end = stub + request.size;
        prop_assert!(
            free.iter()
                .any(|range| range.start <= stub && end <= range.end)
        );
        prop_assert!(request.reach.contains(&stub));
        let code = Form::default().code(request.jump, stub).unwrap();
        prop_assert_eq!(code[0], 0xe9);
        let distance = i32::from_le_bytes([code[1], code[2], code[3], code[4]]);
        prop_assert_eq!(
            request
                .jump
                .wrapping_add(5)
                .wrapping_add_signed(distance.into()),
            stub
        );
        for position in 0..BYTES {
            let allowed = request.constraint.allowed(position);
            prop_assert!(allowed.contains(code[1 + position]));
        }
        taken.push(stub..end);
    }
    taken.sort_by_key(|range| range.start);
    prop_assert!(taken.windows(2).all(|pair| pair[0].end <= pair[1].start));
    Ok(())
}

proptest! {
    #[test]
    fn the_next_allowed_displacement_is_the_least(which in constraint(), least: i32) {
        match which.next_allowed(least) {
            Some(next) => {
                prop_assert!(next >= least && which.allows(next));
                // Nothing below it is allowed: at the distances that a byte makes.
                for step in [1i64, 2, 255, 256, 257, 65_535, 65_536, 1 << 24] {
                    let below = i64::from(next) - step;
                    if below >= i64::from(least) {
                        prop_assert!(!which.allows(below as i32));
                    }
                }
            }
            None => prop_assert!(!which.allows(i32::MAX)),
        }
    }

    #[test]
    fn nothing_is_skipped_nearby(which in constraint(), least: i32) {
        let reached = which.next_allowed(least).unwrap_or(i32::MAX);
        let near = i64::from(least)..i64::from(reached).min(i64::from(least) + 100_000);
        for between in near {
            prop_assert!(!which.allows(between as i32));
        }
    }

    #[test]
    fn windows_hold_exactly_what_the_top_byte_allows(which in constraint(), at: i32) {
        let origin = 0x5555_0000_0000u64;
        let address = (origin + 5).wrapping_add_signed(at.into());
        let within = which.windows(origin).any(|window| window.contains(&address));
        let top = at.to_le_bytes()[3];
        prop_assert_eq!(within, which.allowed(3).contains(top));
    }

    #[test]
    fn placed_stubs_trap_at_boundaries_and_do_not_overlap(
        heads in prop::collection::vec((0u64..0x20_0000, constraint(), 48u64..2000, any::<bool>()), 1..60),
        holes in prop::collection::vec((-0x7000_0000i64..0x7000_0000, 1u64..0x400_0000), 0..12),
    ) {
        let module = 0x7f00_1000_0000u64;
        let mut free = free_around(module);
        if !holes.is_empty() {
            free = holes
                .iter()
                .map(|(at, size)| module.wrapping_add_signed(*at)..module.wrapping_add_signed(*at) + size)
                .collect();
        }
        let requests: Vec<Request> = heads
            .into_iter()
            .map(|(at, which, size, near)| {
                let mut one = request(module + at, which, size);
                if near {
                    one.reach = module - 0x4000_0000..module + 0x4000_0000;
                }
                one
            })
            .collect();
        // Overlapping free ranges are merged before the check.
        free.sort_by_key(|range| range.start);
        let merged = free.into_iter().fold(Vec::<Range<u64>>::new(), |mut merged, range| {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
            merged
        });
        check_placed(&merged, &requests)?;
    }
}

/// The short heads of code whose last two bytes jump back to `target`.
fn short_heads(code: &[u8], target: i8) -> Vec<Head> {
    let mut bytes = code.to_vec();
    bytes.extend_from_slice(&[0xeb, target.wrapping_sub(code.len() as i8 + 2) as u8]);
    let text = Text {
        address: AT,
        bytes: &bytes,
    };
    let branches = BranchTargets::of(text);
    let site = Site {
        address: AT,
        end: AT + bytes.len() as u64,
        place: Place::ReturnSite,
        branches: &branches,
        shadow_stack: false,
    };
    let heads = Head::short(text, site);
    heads
        .into_iter()
        .filter(|head| !head.is_costly(&branches))
        .collect()
}

const AT: u64 = 0x7fff_f700_1000;

/// mov rbp, rax; mov rdx, [rbx+8]; mov rsi, [rbx+16]
const LOADS: [u8; 11] = [
    0x48, 0x89, 0xc5, 0x48, 0x8b, 0x53, 0x08, 0x48, 0x8b, 0x73, 0x10,
];

#[test]
fn a_jump_shares_what_a_loop_goes_back_to() {
    let heads = short_heads(&LOADS, 3);
    let [head] = heads.as_slice() else {
        panic!("{heads:?}");
    };
    assert_eq!(head.end(), AT + 3);
    assert_eq!(head.behind, LOADS[3..7]);
    // Two bytes are free, then one, then none.
    for (form, free) in Form::of(head).into_iter().zip([2, 1, 0]) {
        assert_eq!(form.constraint.count(), 4 - free);
        let displacement = form.constraint.next_allowed(i32::MIN).unwrap();
        let origin = form.opcode(AT) + JUMP_LENGTH;
        let code = form.code(AT, origin.wrapping_add_signed(displacement.into()));
        let code = code.unwrap();
        assert_eq!(code[3..], LOADS[3..code.len()]);
        // What is executed is the jump.
        let mut decoder = iced_x86::Decoder::with_ip(64, &code, AT, 0);
        let decoded = decoder.decode();
        assert_eq!(decoded.len(), code.len());
        assert_eq!(
            decoded.near_branch_target(),
            origin.wrapping_add_signed(displacement.into())
        );
    }
    assert_eq!(Form::of(head).len(), 3);
}

#[test]
fn a_prefix_never_stands_where_an_instruction_begins() {
    // push rax; push rcx; mov edx, ebx; and a loop back to the mov.
    let heads = short_heads(&[0x50, 0x51, 0x89, 0xda, 0x90, 0x90, 0x90], 2);
    let ends: Vec<u64> = heads.iter().map(|head| head.end() - AT).collect();
    assert_eq!(ends, [2, 1]);
    let forms = Form::of(&heads[0]);
    assert_eq!(forms.len(), 1);
    assert_eq!(forms[0].constraint.allowed(0), Allowed::Trapping);
    assert_eq!(forms[0].constraint.allowed(1), Allowed::Shared(0x89));
    // The jump of one byte shares all others.
    let forms = Form::of(&heads[1]);
    assert_eq!((forms.len(), forms[0].constraint.count()), (1, 4));
}

#[test]
fn a_call_behind_the_first_instruction_stays() {
    // mov edi, eax; call +0x100: the loop goes back to the start.
    let heads = short_heads(&[0x89, 0xc7, 0xe8, 0, 1, 0, 0, 0x90], 0);
    let ends: Vec<u64> = heads.iter().map(|head| head.end() - AT).collect();
    assert_eq!(ends, [2]);
    assert_eq!(heads[0].behind, [0xe8, 0, 1, 0, 0]);
}

#[test]
fn a_head_that_is_not_short_has_one_form() {
    let text = Text {
        address: AT,
        bytes: &LOADS,
    };
    let branches = BranchTargets::of(text);
    let site = Site {
        address: AT,
        end: AT + LOADS.len() as u64,
        place: Place::ReturnSite,
        branches: &branches,
        shadow_stack: false,
    };
    let head = Head::at(text, site).unwrap();
    assert!(!head.is_short() && !head.is_costly(&branches));
    let forms = Form::of(&head);
    let expected = Constraint::at_boundaries([0, 3]);
    assert_eq!((forms.len(), forms[0].constraint), (1, expected));
}
