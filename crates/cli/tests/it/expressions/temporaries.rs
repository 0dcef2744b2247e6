//! Results of calls that further calls of the expression take: as objects, by reference and
//! by value; methods through references to pointers.

use crate::support::dialog::check_at_looks;
use crate::support::printed::plain_builds;
use crate::support::program;
use juror_testing::{Fixture, Language};

#[test]
fn a_result_outlives_the_next_call_of_its_expression() {
    let rows = &[
        (1, "print cell(3).a", "=3"),
        (1, "print cell(3).sum()", "=7"),
        (1, "print cell(3)(10)", "=30"),
        (1, "print large(5).v[1]", "=6"),
        (1, "print large(5).total()", "=35"),
        (1, "print large(5).first()", "=5"),
        (1, "print large(1).more(2).more(3).v[4]", "=10"),
        (1, "print large(1).more(2).total()", "=25"),
        (1, "print small(4)", "={x = 4, y = 8}"),
        (1, "print small(4).both()", "=12"),
        (1, "print small(4).self().y", "=8"),
        (1, "print text(30).size()", "=30"),
        (1, "print text(3) == \"xxx\"", "=true"),
        (1, "print numbers(3)[1]", "=7"),
        (1, "print function(5)()", "=5"),
        (1, "print by_value(large(5), 1)", "=14"),
        (1, "print by_reference(large(5), 1)", "=14"),
        (1, "print mid_reference(mid(3))", "=8"),
        (1, "print mid_changing(mid(3))", "wanted"),
        (1, "print length(text(3))", "=3"),
        (1, "print length(text(30))", "=30"),
        (1, "print by_value(large(by_value(large(1), 2)), 3)", "=16"),
        (
            1,
            "print by_reference(large(2), 4) + by_reference(large(7), 5)",
            "=26",
        ),
        (1, "print b", "={n = 7}"),
        // The kept value is passed, not the bytes at its place after other calls.
        (1, "set $l = large(9)", "="),
        (1, "print large(1).v[0]", "=1"),
        (1, "print $l.v[1]", "=10"),
        (1, "print by_reference($l, 1)", "=22"),
        (1, "print by_value($l, 1)", "=22"),
        (1, "print $l.total()", "=55"),
    ];
    for build in plain_builds(Language::Cpp) {
        let executable = program("temporaries.cpp").compile(&build);
        check_at_looks(&executable, &build.to_string(), rows);
    }
}

#[test]
fn a_method_gets_the_object_behind_a_reference_to_a_pointer() {
    let rows = &[
        (1, "print p->get()", "=7"),
        (1, "print rb.get()", "=7"),
        (1, "print rb->get()", "=7"),
        (1, "print rp->get()", "=7"),
        (1, "print rp.get()", "=7"),
        (1, "print (*rp).get()", "=7"),
        (1, "print crp->get()", "=7"),
        (1, "print rp->add(1)", "=8"),
        (1, "print *rq", "=5"),
        (1, "print ra[1]", "=2"),
        (1, "print sizeof(ra)", "=12"),
        (1, "print sizeof(Box &)", "=8"),
        (1, "print sizeof(int &)", "=4"),
        (1, "print take_bytes(letters)", "=97"),
        (1, "print take_numbers(q)", "=5"),
        (1, "print take_numbers(letters)", "wanted"),
        (1, "print take_numbers((int *)letters)", "6513249"),
        (1, "call rp->reset()", ""),
        (1, "print b", "={n = 0}"),
        (1, "print p == &b", "=true"),
    ];
    for build in plain_builds(Language::Cpp) {
        let executable = program("temporaries.cpp").compile(&build);
        check_at_looks(&executable, &build.to_string(), rows);
    }
}

const OLD_STYLE: &str = "
float fv = 2.5f; double seen;
int proto(float a, float b) { seen = a; return a == 3.5f && b == 2.5f; }
int old(a, b) float a, b; { seen = a; return a == 3.5f && b == 2.5f; }
int mixed(n, a, c, d) int n; float a; char c; double d; { return n == 1 && a == 2.5f && c == 7 && d == 0.5; }
int many(a, b, c, d, e, f, g, h, i) float a, b, c, d, e, f, g, h, i; { return (int)(a + b + c + d + e + f + g + h + i); }
float half(float x) { return x / 2; }
void look(void) {}
int main(void)
{
    fv = half(5.0f);
    look();
    return !(proto(3.5f, fv) && old(3.5f, fv) && mixed(1, fv, 7, 0.5) && many(1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f, 9.f) == 45);
}";

#[test]
fn a_function_without_a_prototype_takes_doubles() {
    let rows = &[
        (1, "print proto(3.5, fv)", "=1"),
        (1, "print old(3.5, fv)", "=1"),
        (1, "print seen", "=3.5"),
        (1, "print old(3.5, 2.5)", "=1"),
        (1, "print old(3, 2)", "=0"),
        (1, "print seen", "=3"),
        (1, "print mixed(1, 2.5, 7, 0.5)", "=1"),
        (1, "print mixed(1, fv, 7, 0.5)", "=1"),
        (1, "print many(1, 2, 3, 4, 5, 6, 7, 8, 9)", "=45"),
        (1, "print half(3)", "=1.5"),
        (1, "print half(fv)", "=1.25"),
        (1, "print ((int (*)(float, float)) proto)(3.5, fv)", "=1"),
        (1, "print ((int (*)()) old)(3.5, fv)", "=1"),
    ];
    let event = "
        event old = before old(a, b)
        event many = before many(a, i)
        event proto = before proto(a, b)";
    for build in plain_builds(Language::C) {
        let executable = Fixture::c("old_style", OLD_STYLE)
            .argument("-w")
            .compile(&build);
        check_at_looks(&executable, &build.to_string(), rows);
        let report = crate::support::Batch::watching(&crate::support::property_of(event));
        let report = report.run(&executable, &[]);
        for (event, name, value) in [
            ("old", "a", 3.5),
            ("old", "b", 2.5),
            ("many", "a", 1.0),
            ("many", "i", 9.0),
            ("proto", "a", 3.5),
        ] {
            assert_eq!(
                report.values(event, name),
                [value],
                "{event}.{name}, {build}"
            );
        }
    }
}

const ARRAYS: &str = "
#[inline(never)] fn look() { std::hint::black_box(()); }
#[inline(never)] fn seen(r: &[i32; 3], n: usize) -> i32 { std::hint::black_box(r[n]) }
struct Shape { area: &'static str, side: u32 }
impl Shape { #[inline(never)] fn area(&self) -> u32 { std::hint::black_box(self.side * self.side) } }
fn main() {
    let a = [10, 20, 30];
    let r = &a;
    let rr = &[&a, &a];
    let m: &mut [i64; 2] = &mut [7, 8];
    let s: &[i32] = &a[..];
    let b: Box<[i32; 3]> = Box::new([4, 5, 6]);
    let t = &(1, [2, 3]);
    let shape = Shape { area: \"wide\", side: 3 };
    look();
    println!(\"{} {} {} {} {} {:?} {} {} {}\", r[2], rr[1][0], m[1], s[1], b[1], t.1[1], seen(r, 2), shape.area, shape.area());
}";

#[test]
fn an_index_of_a_reference_to_an_array_is_one_of_the_array() {
    let rows = &[
        (1, "print r[2]", "=30"),
        (1, "print rr[1][0]", "=10"),
        (1, "print m[1]", "=8"),
        (1, "print s[1]", "=20"),
        (1, "print b[1]", "=5"),
        (1, "print t.1[1]", "=3"),
        (1, "print (*r)[2]", "=30"),
        (1, "print r[0..2]", "=[10, 20]"),
        (1, "print r[3]", "3 elements"),
        (1, "print m[2]", "2 elements"),
        (1, "print shape.area", "\"wide\""),
        (1, "print shape.area()", "=9"),
    ];
    for build in plain_builds(Language::Rust) {
        let executable = Fixture::rust("arrays", ARRAYS).compile(&build);
        check_at_looks(&executable, &build.to_string(), rows);
        let event = "event seen = before arrays::seen(x = r[2], y = r[0], z = r[1] + 1)";
        let report = crate::support::Batch::watching(&crate::support::property_of(event));
        let report = report.run(&executable, &[]);
        assert_eq!(report.values("seen", "x"), [30], "{build}");
        assert_eq!(report.values("seen", "y"), [10], "{build}");
        assert_eq!(report.values("seen", "z"), [21], "{build}");
        let answers = crate::support::dialog::dialog(
            &executable,
            &[
                "break arrays::seen if r[2] == 30 && r[n] == 30",
                "run",
                "kill",
            ],
        );
        assert!(answers[1].contains("Breakpoint"), "{build}: {answers:?}");
    }
}
