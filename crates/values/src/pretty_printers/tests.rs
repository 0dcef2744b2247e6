use super::pattern::{self, Pattern};
use super::printers::{PrettyPrinters, SOURCES};

#[test]
fn the_standard_views_can_be_read() {
    let mut printers = PrettyPrinters::default();
    for (file, source) in SOURCES {
        let added = printers.add(file, source);
        assert!(added.is_ok(), "{}", added.unwrap_err());
    }
}

#[test]
fn types_are_found_by_the_paths_of_their_templates() {
    let check = |pattern: &str, name: &str, expected: bool| {
        let pattern = Pattern::parse(pattern).unwrap();
        let fits = pattern.fits(name, &pattern::head(name));
        assert_eq!(fits, expected, "{name}");
    };
    check(
        "std::vector<T, A>",
        "std::vector<int, std::allocator<int> >",
        true,
    );
    check(
        "std::vector<T, A>",
        "std::__1::vector<int, std::allocator<int> >",
        true,
    );
    check("std::vector<T, A>", "my::vector<int>", false);
    check("std::vector<T, A>", "std::vector_like<int>", false);
    check(
        "std::basic_string<C>",
        "std::__cxx11::basic_string<char, std::char_traits<char> >",
        true,
    );
    check("&[*]", "&[i32]", true);
    check("&[*]", "&[[u8; 4]]", true);
    check("&[*]", "&str", false);
    check("&*str", "&mut str", true);
}

#[test]
fn errors_in_a_file_of_views_have_their_line() {
    let check = |source: &str, line: usize, message: &str| {
        let error = PrettyPrinters::default()
            .add("my.views", source)
            .unwrap_err();
        assert_eq!(
            (error.line, error.message.as_str()),
            (line, message),
            "{source}"
        );
    };
    check(
        "vew x {\n}",
        1,
        "a view begins with: view NAME<ARGUMENTS> as list {",
    );
    check(
        "view x as heap {\n}",
        1,
        "a view is shown as: value, list, set, map or tuple",
    );
    check("view x {\n    value y", 2, "a `}` is missing");
    check(
        "view x {\n} else {\n}",
        2,
        "there is no `if` for this `else`",
    );
    check("\n# words\nview x {\n    entry a\n}", 4, "`=>` is missing");
    check(
        "view x {\n    for i in 3 {\n}",
        2,
        "a count is written: for i in 0 .. n {",
    );
    check(
        "view x {\n    let n = argument 0 of y\n}",
        2,
        "they are counted from 1",
    );
    check(
        "view x {\n    type T = argument 0 of y\n}",
        2,
        "they are counted from 1",
    );
    let deep = "if x {\n".repeat(40);
    let error = PrettyPrinters::default()
        .add("my.views", &format!("view x {{\n{deep}"))
        .unwrap_err();
    assert_eq!(error.message, "blocks are nested too deeply");
}
