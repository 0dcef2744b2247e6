//! Labels of the same name in several blocks, and their resolution by jumps. The counts
//! are those of Spin 6.5.2.

use super::{counts, refused};

#[test]
fn a_jump_means_the_label_of_the_nearest_block() {
    counts(
        "byte x;
         active proctype A() {
             { skip; l: x++; if :: x < 3 -> goto l :: else fi };
             { skip; l: x = x + 10; if :: x < 30 -> goto l :: else fi }
         }",
        16,
        16,
    );
    counts(
        "byte x;
         active proctype A() {
             { skip; l: x++; if :: x < 9 -> goto l :: else fi };
             if :: x > 12 -> goto out :: else fi;
             l: x++;
             if :: x < 12 -> goto l :: else fi;
             out: x = 0
         }",
        29,
        29,
    );
    counts(
        "byte x;
         inline up(n) { if :: x < n -> again: x++; if :: x < n -> goto again :: else fi :: else fi }
         active proctype A() { up(2); up(5) }",
        14,
        14,
    );
    counts(
        "byte x;
         active proctype A() {
             atomic { skip; l: x++; if :: x < 3 -> goto l :: else fi };
             byte i;
             for (i : 1 .. 2) { skip; l: x = x + 10; if :: x < 30 -> goto l :: else fi }
         }",
        20,
        20,
    );
    // Into a block that is visible only by its label.
    counts(
        "byte x; active proctype A() { if :: goto inside :: skip fi; { x = 1; inside: x = 2 } }",
        6,
        7,
    );
}

#[test]
fn a_jump_means_one_label() {
    refused("active proctype A() { x: skip; x: skip }", "redeclared");
    refused(
        "active proctype A() { if :: x: skip :: x: skip fi }",
        "redeclared",
    );
    refused(
        "active proctype A() { x: skip; { skip; x: skip } }",
        "redeclared",
    );
    refused(
        "active proctype A() { goto x; { skip; x: skip }; { skip; x: skip } }",
        "unknown-label",
    );
}
