//! The bits of the flags register and of the control and status register of vectors (*Software
//! Developer's Manual*, volume 1, sections 3.4.3 and 10.2).

/// The flag with which the processor stops after each instruction.
pub const TRAP: u64 = 1 << 8;
/// The flag with which string instructions go downwards; it is clear at a call.
pub const DIRECTION: u64 = 1 << 10;

/// The flags that a program may change: CF, PF, AF, ZF, SF, DF, OF, AC.
pub const SETTABLE: u64 = 0x4_0cd5;
/// The other flags that have a name.
pub const KEPT: u64 = 0x3b_7300;

/// The names of the flags, by bit.
pub const NAMES: &[(u8, &str)] = &[
    (0, "CF"),
    (2, "PF"),
    (4, "AF"),
    (6, "ZF"),
    (7, "SF"),
    (8, "TF"),
    (9, "IF"),
    (10, "DF"),
    (11, "OF"),
    (14, "NT"),
    (16, "RF"),
    (17, "VM"),
    (18, "AC"),
    (19, "VIF"),
    (20, "VIP"),
    (21, "ID"),
];

/// The names of the bits of the control and status register of vectors.
pub const VECTOR_CONTROL_NAMES: &[(u8, &str)] = &[
    (0, "IE"),
    (1, "DE"),
    (2, "ZE"),
    (3, "OE"),
    (4, "UE"),
    (5, "PE"),
    (6, "DAZ"),
    (7, "IM"),
    (8, "DM"),
    (9, "ZM"),
    (10, "OM"),
    (11, "UM"),
    (12, "PM"),
    (15, "FZ"),
];
