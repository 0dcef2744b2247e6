//! Tests of names.

use super::*;

#[test]
fn names_match_by_their_last_components() {
    for (name, query, expected) in [
        ("ns::Class::method", "method", true),
        ("ns::Class::method", "Class::method", true),
        ("ns::Class::method", "ns::Class::method", true),
        ("ns::Class::method", "Other::method", false),
        ("ns::Class::method", "ethod", false),
        (
            "ns::Vec<std::pair<int, char> >::push<int>(int const&)",
            "Vec::push",
            true,
        ),
        ("ns::Vec<int>::push", "Vec<int>::push", true),
        ("ns::Vec<int>::push", "Vec<char>::push", false),
        ("ns::(anonymous namespace)::helper", "ns::helper", true),
        (
            "<alloc::vec::Vec<i32> as core::fmt::Debug>::fmt",
            "Vec::fmt",
            true,
        ),
        (
            "<alloc::vec::Vec<i32>>::push",
            "alloc::vec::Vec::push",
            true,
        ),
        ("crate_name::{impl#3}::run", "crate_name::run", true),
        ("Point::operator<", "operator<", true),
        ("Point::operator<", "operator<<", false),
        ("Point::operator()(int)", "operator()", true),
        ("operator<< <char>", "operator<<", true),
        ("operator<< <char>", "operator<", false),
        ("n::operator==<int>", "operator==", true),
        ("n::operator==<int>", "n::operator==", true),
        ("n::operator==<int>", "operator==<int>", true),
        ("n::operator==<int>", "operator==<char>", false),
        ("n::operator== <n::A>", "operator==", true),
        ("n::operator< <int>", "operator<", true),
        ("n::operator<<int>", "operator<", true),
        ("n::operator<<int>", "operator<<", false),
        ("n::operator<<<int>", "operator<<", true),
        ("n::operator<=><int>", "operator<=>", true),
        ("Any::operator()<int>(int)", "operator()", true),
        ("Any::operator-><int>", "operator->", true),
        (
            "n::operator==<int>(n::A)::{lambda()#1}",
            "operator==",
            false,
        ),
        ("A::operator n::B<int>", "operator n::B<int>", true),
        ("operator new[]", "operator new[]", true),
        ("generics::Stack<u8>::push<u8>", "Stack<u8>::push", true),
        ("generics::Stack<u8>::push<u8>", "Stack<i8>::push", false),
        ("generics::Stack<u8>::push<u8>", "push<u8>", true),
        (
            "std::vector<int, std::allocator<int> >::at",
            "vector<int>::at",
            true,
        ),
        (
            "std::vector<int, std::allocator<int> >::at",
            "vector<i>::at",
            false,
        ),
        ("<k::Square as k::Shape>::area", "Shape::area", true),
        ("<k::Square as k::Shape>::area", "k::Square::area", true),
        (
            "<k::Square as k::Shape>::area",
            "<Square as Shape>::area",
            true,
        ),
        (
            "<k::Square as k::Shape>::area",
            "<Circle as Shape>::area",
            false,
        ),
        ("k::Square::area", "<Square as Shape>::area", false),
        ("Stack<int>::operator()", "Stack<int>::operator()", true),
        ("Stack<int>::operator()", "Stack<char>::operator()", false),
        ("Stack<int>::operator<", "Stack<int>::operator<", true),
        ("krate::max<i32>", "max::<i32>", true),
        ("max<long unsigned int>", "max<unsigned long>", true),
        ("max<unsigned long>", "max<long>", false),
        (
            "max<std::__cxx11::basic_string<char> >",
            "max<std::basic_string<char>>",
            true,
        ),
        ("max<const char*>", "max<char const *>", true),
        ("max<const char*>", "max<char *>", false),
        ("krate::max::<i32>", "max<i32>", true),
        ("krate::max::<i32>", "max", true),
        ("krate::max<i32>", "max::<u8>", false),
        ("krate::Stack::<u8>::push", "Stack::push", true),
        ("Class::~Class", "~Class", true),
        (
            "f::{lambda(int)#1}::operator() const",
            "f::{lambda(int)#1}::operator()",
            true,
        ),
        (
            "f::{lambda(int)#1}::operator()",
            "f::{lambda(int)#1}::operator()",
            true,
        ),
        (
            "f::{lambda(int)#1}::operator()",
            "f::{lambda(int)#2}::operator()",
            false,
        ),
        (
            "f::{lambda(char const*)#2}::operator()",
            "f::{lambda(int)#2}::operator()",
            false,
        ),
        (
            "f::{lambda(char const*)#2}::operator()",
            "{lambda(char const *)#2}::operator()",
            true,
        ),
        ("f::{lambda(int)#1}::operator()", "operator()", true),
        ("n::run::{closure#0}", "run::{{closure}}", true),
        ("n::run::{async_fn#0}", "run::{{closure}}", true),
        ("n::run::{{closure}}", "run::{{closure}}", true),
        ("n::run::{impl#0}", "run::{{closure}}", false),
        ("n::run::{closure#1}", "run::{closure#0}", false),
        ("main", "main", true),
        ("", "", true),
        ("main", "", false),
    ] {
        assert_eq!(matches(name, query), expected, "{name} for {query}");
    }
}

#[test]
fn scopes_are_literal_where_no_mangled_name_shortens_them() {
    for (written, expected) in [
        (
            "corpus::unit_7::worker::run",
            &["corpus", "unit_7", "worker"][..],
        ),
        ("std::vector<int>::push_back", &["vector"]),
        ("std::basic_string<char>::size", &[]),
        ("std::istream::get", &[]),
        ("shop::(anonymous namespace)::hidden", &["shop"]),
        ("<k::Square as k::Shape>::area", &["Square"]),
        ("isize::checked_add", &[]),
        ("f", &[]),
        ("", &[]),
    ] {
        assert_eq!(literal_scopes(written), expected, "{written}");
    }
}

#[test]
fn a_whole_name_has_all_scopes() {
    for (written, name, whole, left_out) in [
        ("max<int>", "max<int>", true, false),
        ("max", "max<int>", true, true),
        ("ns::max", "ns::max<int>", true, true),
        ("max", "ns::max<int>", false, true),
        ("push", "Stack<int>::push", false, false),
        ("Stack::push", "Stack<int>::push", true, false),
        ("helper", "(anonymous namespace)::helper", true, false),
        ("max::<i32>", "max<i32>", true, false),
        ("operator<", "operator<", true, false),
    ] {
        assert_eq!(is_whole_name_of(written, name), whole, "{written} {name}");
        assert_eq!(
            omits_template_arguments(written, name),
            left_out,
            "{written} {name}"
        );
    }
}

#[test]
fn scopes_around_a_function_are_listed_from_the_inside() {
    for (name, expected) in [
        ("n::C::f", &["n::C::", "n::"][..]),
        ("O<a::b>::get", &["O<a::b>::"]),
        (
            "main::<lambda(int)>::operator()",
            &["main::<lambda(int)>::", "main::"],
        ),
        ("<k::S as k::T>::f", &["<k::S as k::T>::", "k::S::", "k::"]),
        ("f", &[]),
        ("", &[]),
    ] {
        assert_eq!(enclosing_scopes(name), expected, "{name}");
    }
}

#[test]
fn methods_of_traits_are_for_a_type() {
    for (name, expected) in [
        ("<k::Square as k::Shape>::{vtable}", Some("k::Square")),
        (
            "<k::f::{closure_env#0}<A> as core::Fn<(B as C)>>::{vtable}",
            Some("k::f::{closure_env#0}<A>"),
        ),
        ("k::Square::area", None),
    ] {
        assert_eq!(subject(name), expected, "{name}");
    }
}

#[test]
fn mangled_names_become_readable() {
    for (raw, expected) in [
        ("_ZN2ns5Class6methodEi", Some("ns::Class::method")),
        (
            "_ZN4core3fmt5write17h0123456789abcdefE",
            Some("core::fmt::write"),
        ),
        (
            "_ZN13_$LT$a..b$GT$1c17h0123456789abcdefE.llvm.1",
            Some("<a::b>::c"),
        ),
        ("_ZL6helperi.constprop.0", Some("helper.constprop.0")),
        ("main", None),
        ("_Zgarbage", None),
    ] {
        assert_eq!(demangle(raw).as_deref(), expected, "{raw}");
    }
}

#[test]
fn names_that_repeat_their_repetitions_are_left_mangled() {
    let levels = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let pairs: String = levels
        .chars()
        .map(|level| format!("S0_IS{level}_S{level}_E"))
        .collect();
    let name = |pairs: &str| format!("_Z1fISt4pairIiiE{pairs}EvT_");
    let few = demangle(&name("S0_IS1_S1_E")).unwrap();
    assert!(
        few.contains("std::pair<int, int>, std::pair<int, int>"),
        "{few}"
    );
    assert_eq!(demangle(&name(&pairs)), None);
}

#[test]
fn clone_suffixes_are_told_apart() {
    for (suffix, expected) in [
        (".constprop.0", CloneKind::Instance),
        (".isra.0", CloneKind::Instance),
        (".llvm.1234", CloneKind::Instance),
        (".part.0", CloneKind::Part),
        (".constprop.0.cold", CloneKind::Fragment),
        (".cold", CloneKind::Fragment),
    ] {
        assert_eq!(clone_kind(suffix), expected, "{suffix}");
    }
}
