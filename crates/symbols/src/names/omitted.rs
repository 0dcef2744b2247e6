//! Names in which inline namespaces are left out: `lib::T` for `lib::v2::T` (C++ standard,
//! 9.8.2).

use super::{Part, is_same_part, parts};

/// Returns whether `written` names `name` if components that `is_inline` accepts may be left
/// out of it; the argument of `is_inline` is a namespace with its scopes, without anonymous
/// ones. With `is_whole` nothing else may be left out.
pub(crate) fn matches_without_inline(
    name: &str,
    written: &str,
    is_whole: bool,
    is_inline: &dyn Fn(&str) -> bool,
) -> bool {
    let (known, asked) = (parts(name), parts(written));
    let (Some((last, mut outer)), Some((wanted, mut rest))) =
        (known.split_last(), asked.split_last())
    else {
        return false;
    };
    if !is_same_part(last, wanted) {
        return false;
    }
    while let Some((scope, further)) = outer.split_last() {
        match rest.split_last() {
            Some((wanted, before)) if is_same_part(scope, wanted) => rest = before,
            None if !is_whole => return true,
            _ if is_namespace_left_out(outer, is_inline) => {}
            _ => return false,
        }
        outer = further;
    }
    rest.is_empty()
}

/// Returns whether the last of these scopes is an inline namespace.
fn is_namespace_left_out(scopes: &[Part<'_>], is_inline: &dyn Fn(&str) -> bool) -> bool {
    let Some(last) = scopes.last().filter(|last| last.arguments.is_empty()) else {
        return false;
    };
    let is_of_library = is_version(last.name) && scopes.first().is_some_and(|it| it.name == "std");
    let words: Vec<&str> = scopes.iter().map(|it| it.name).collect();
    is_of_library || is_inline(&words.join("::"))
}

/// Returns whether a name may be that of a namespace for a version of the standard library:
/// `__cxx11`, `__1`, `_V2`.
fn is_version(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let prefixes = ["__cxx", "__ndk", "__", "_V"];
    let mut behind = prefixes.iter().filter_map(|it| word.strip_prefix(it));
    behind.any(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_namespaces_alone_may_be_left_out() {
        let is_inline = |scope: &str| matches!(scope, "lib::v2" | "lib::v2::deep" | "now");
        for (name, written, expected, whole) in [
            ("lib::v2::T::go", "lib::T::go", true, true),
            ("lib::v2::T::go", "lib::v2::T::go", true, true),
            ("lib::v2::T::go", "T::go", true, false),
            ("lib::v2::deep::f", "lib::f", true, true),
            ("lib::v2::deep::f", "lib::v2::f", true, true),
            ("lib::v2::deep::f", "lib::deep::f", true, true),
            ("lib::v2::Box<int>::get", "lib::Box<int>::get", true, true),
            (
                "lib::v2::Box<int>::get",
                "lib::Box<char>::get",
                false,
                false,
            ),
            ("lib::v1::f", "lib::f", false, false),
            ("lib::v2::T::go", "lib::go", false, false),
            ("lib::v2", "lib", false, false),
            ("lib::v2::f", "lib::v3::f", false, false),
            ("lib::v2::f", "other::lib::f", false, false),
            ("outer::lib::v2::f", "lib::f", false, false),
            ("now::f", "f", true, true),
            ("lib::(anonymous namespace)::f", "lib::f", true, true),
            (
                "std::__cxx11::list<int>::size",
                "std::list<int>::size",
                true,
                true,
            ),
            (
                "std::chrono::_V2::clock::now",
                "std::chrono::clock::now",
                true,
                true,
            ),
            ("std::pair::f", "std::f", false, false),
            ("mine::_V2::f", "mine::f", false, false),
            ("", "f", false, false),
            ("f", "", false, false),
        ] {
            let found = [false, true]
                .map(|is_whole| matches_without_inline(name, written, is_whole, &is_inline));
            assert_eq!(found, [expected, whole], "{written} for {name}");
        }
    }
}
