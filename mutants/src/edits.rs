//! Finds the edits of one source.
//!
//! Each operator has one or two edits, those that the other possible ones follow from in
//! nearly all code: a comparison is negated and its boundary moved, `+` becomes `-`, `&&`
//! becomes `||`. Code in macro calls, constants and tests is not edited.

use std::ops::Range;

use anyhow::{Context, Result};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Pat, UnOp};

use crate::operators::{arithmetic, assigned, boundary, is_comparison};
use crate::pieces::Pieces;
use crate::returns;

/// One edit.
pub struct Edit {
    /// The line of the source, from 1.
    pub line: usize,
    /// What is edited, in which function, and its text: the same while those are.
    pub what: String,
}

/// The edits of one source.
pub struct Edits {
    /// The insertions, by the numbers of the edits.
    pub pieces: Pieces,
    /// The edits, from the first number that was asked for.
    pub edits: Vec<Edit>,
    /// The modules of this file that are compiled for tests only.
    pub test_modules: Vec<String>,
}

/// Finds the edits of a source, with numbers from `first`.
///
/// # Errors
///
/// The source is not Rust.
pub fn find(source: &str, first: usize) -> Result<Edits> {
    let file = syn::parse_file(source).context("the source cannot be parsed")?;
    let mut finder = Finder {
        source,
        first,
        functions: Vec::new(),
        found: Edits {
            pieces: Pieces::default(),
            edits: Vec::new(),
            test_modules: Vec::new(),
        },
    };
    finder.visit_file(&file);
    Ok(finder.found)
}

struct Finder<'a> {
    source: &'a str,
    first: usize,
    functions: Vec<String>,
    found: Edits,
}

/// Returns the bytes of a node in its source.
fn range(node: &impl Spanned) -> Range<usize> {
    let start = node.span().byte_range().start;
    start..node.span().byte_range().end
}

/// Returns a call that tells whether an edit is made.
fn made(edit: usize) -> String {
    format!("::juror_edits::is_made({edit})")
}

impl<'a> Finder<'a> {
    fn text(&self, range: Range<usize>) -> &'a str {
        &self.source[range]
    }

    /// Returns a text on one line, cut where it is long.
    fn short(&self, range: Range<usize>) -> String {
        let words: Vec<&str> = self.text(range).split_whitespace().collect();
        let line = words.join(" ");
        match line.char_indices().nth(70) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }

    fn add(&mut self, at: usize, what: &str, context: Option<Range<usize>>) -> usize {
        let mut what = what.to_owned();
        if !self.functions.is_empty() {
            what = format!("{what} in {}", self.functions.join("::"));
        }
        if let Some(context) = context {
            what = format!("{what}: `{}`", self.short(context));
        }
        let line = self.source[..at].matches('\n').count() + 1;
        self.found.edits.push(Edit { line, what });
        self.first + self.found.edits.len() - 1
    }

    /// Adds the edits of a function's body: it returns at once.
    fn body(&mut self, signature: &syn::Signature, block: &syn::Block) {
        if signature.constness.is_some() || block.stmts.is_empty() {
            return;
        }
        let open = block.brace_token.span.open().byte_range().end;
        let close = block.brace_token.span.close().byte_range().start;
        let body: String = self.text(open..close).split_whitespace().collect();
        for value in returns::values(&signature.output) {
            if body == value.split_whitespace().collect::<String>() {
                continue;
            }
            let edit = self.add(open, &format!("return {value} at once"), None);
            let text = format!(" if {} {{ return {value}; }}", made(edit));
            self.found.pieces.open(edit, open, text);
        }
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        self.functions.push(signature.ident.to_string());
        self.body(signature, block);
        if signature.constness.is_none() {
            self.visit_block(block);
        }
        self.functions.pop();
    }

    /// Adds the edits of a binary expression that wrap it, and returns them with the text
    /// behind it, the outermost first.
    fn open_binary(&mut self, node: &syn::ExprBinary) -> Vec<(usize, String)> {
        let whole = range(node);
        let token = range(&node.op);
        let sign = self.text(token.clone());
        let mut closes = Vec::new();
        if is_comparison(&node.op) {
            let edit = self.add(token.start, &format!("negate {sign}"), Some(whole.clone()));
            self.found.pieces.open(edit, whole.start, "((".into());
            closes.push((edit, format!(") != {})", made(edit))));
        }
        if let Some(other) = boundary(&node.op).or_else(|| arithmetic(&node.op)) {
            let what = format!("replace {sign} with {other}");
            let edit = self.add(token.start, &what, Some(whole.clone()));
            let (by, value) = if is_comparison(&node.op) {
                ("&", "*")
            } else {
                ("", "")
            };
            self.found
                .pieces
                .open(edit, whole.start, format!("(match ({by}("));
            self.found
                .pieces
                .replace(edit, token.clone(), format!("), {by}("));
            let close = format!(
                ")) {{ (juror_left, juror_right) => if {} {{ {value}juror_left {other} \
                 {value}juror_right }} else {{ {value}juror_left {sign} {value}juror_right }} }})",
                made(edit)
            );
            closes.push((edit, close));
        }
        if let BinOp::And(_) | BinOp::Or(_) = node.op
            && !has_let(&node.left)
            && !has_let(&node.right)
        {
            let is_and = matches!(node.op, BinOp::And(_));
            let other = if is_and { "||" } else { "&&" };
            let what = format!("replace {sign} with {other}");
            let edit = self.add(token.start, &what, Some(whole.clone()));
            let test = if is_and { "!=" } else { "==" };
            self.found
                .pieces
                .open(edit, whole.start, "({ let juror_left = ".into());
            let middle = format!("; if juror_left {test} {} {{ ", made(edit));
            self.found.pieces.replace(edit, token, middle);
            closes.push((edit, " } else { juror_left } })".into()));
        }
        closes
    }

    /// Adds the edit of an assignment with an operator.
    fn assignment(&mut self, node: &syn::ExprBinary, other: &str) {
        let (whole, token) = (range(node), range(&node.op));
        let (sign, target) = (self.text(token.clone()), self.text(range(&node.left)));
        let what = format!("replace {sign} with {other}");
        let edit = self.add(token.start, &what, Some(whole.clone()));
        // The target is evaluated after the value, as that of numbers is.
        let middle = format!(
            "if {} {{ {target} {other} juror_right }} else {{ ",
            made(edit)
        );
        let left = range(&node.left);
        self.found.pieces.replace(
            edit,
            whole.start..range(&node.right).start,
            "{ let juror_right = ".into(),
        );
        let close = format!("; {middle}{} {sign} juror_right }} }}", self.text(left));
        self.visit_expr(&node.right);
        self.found.pieces.close(edit, whole.end, close);
    }

    /// Adds the edits of an arm: without it, a later arm without a condition is taken.
    fn arm(&mut self, arm: &syn::Arm, is_last: bool) {
        let pattern = range(&arm.pat);
        match &arm.pat {
            Pat::Guard(guarded) => {
                let guard = range(&*guarded.guard);
                if has_let(&guarded.guard) {
                    return self.visit_expr(&guarded.guard);
                }
                let context = Some(pattern);
                let never = self.add(guard.start, "never take the arm", context.clone());
                let always = self.add(guard.start, "take the arm without its guard", context);
                self.found.pieces.open(never, guard.start, "(".into());
                self.found.pieces.open(always, guard.start, "(".into());
                self.visit_expr(&guarded.guard);
                self.found
                    .pieces
                    .close(always, guard.end, format!(" || {})", made(always)));
                self.found
                    .pieces
                    .close(never, guard.end, format!(" && !{})", made(never)));
            }
            _ if !is_last => {
                let edit = self.add(pattern.start, "never take the arm", Some(pattern.clone()));
                let text = format!(" if !{}", made(edit));
                self.found.pieces.close(edit, pattern.end, text);
            }
            _ => {}
        }
    }

    /// Adds the edits of a structure's fields: each is taken from the rest.
    fn fields(&mut self, node: &syn::ExprStruct, rest: &Expr) {
        let path = self.text(range(&node.path));
        let rest = match self.text(range(rest)) {
            text if text.ends_with("::default()") => {
                format!("<{path} as ::std::default::Default>::default()")
            }
            text => format!("({text})"),
        };
        for field in &node.fields {
            let syn::Member::Named(name) = &field.member else {
                continue;
            };
            let whole = range(field);
            let what = format!("leave out the field {name} of {path}");
            let edit = self.add(whole.start, &what, None);
            let value = format!("if {} {{ {rest}.{name} }} else {{ ", made(edit));
            let start = range(&field.expr).start;
            if field.colon_token.is_some() {
                self.found.pieces.open(edit, start, value);
            } else {
                self.found
                    .pieces
                    .open(edit, start, format!("{name}: {value}"));
            }
            self.visit_expr(&field.expr);
            self.found.pieces.close(edit, whole.end, " }".into());
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if !is_for_tests(&node.attrs) {
            visit::visit_item_mod(self, node);
        } else if node.content.is_none() {
            self.found.test_modules.push(node.ident.to_string());
        }
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        if !is_for_tests(&node.attrs) {
            self.function(&node.sig, &node.block);
        }
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        if is_for_tests(&node.attrs) {
            return;
        }
        let name = self.short(range(&*node.self_ty));
        self.functions.push(name);
        for item in &node.items {
            self.visit_impl_item(item);
        }
        self.functions.pop();
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        if !is_for_tests(&node.attrs) {
            self.function(&node.sig, &node.block);
        }
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        if let Some(block) = &node.default {
            self.function(&node.sig, block);
        }
    }

    fn visit_expr(&mut self, node: &'ast Expr) {
        match node {
            Expr::Binary(binary) => {
                if let Some(other) = assigned(&binary.op) {
                    return self.assignment(binary, other);
                }
                let closes = self.open_binary(binary);
                visit::visit_expr(self, node);
                for (edit, text) in closes.into_iter().rev() {
                    self.found.pieces.close(edit, range(node).end, text);
                }
            }
            Expr::Unary(unary) => self.unary(node, unary),
            Expr::Match(matched) => {
                self.visit_expr(&matched.expr);
                let is_open = matched
                    .arms
                    .last()
                    .is_some_and(|arm| is_catch_all(&arm.pat));
                for (number, arm) in matched.arms.iter().enumerate() {
                    self.arm(arm, !is_open || number + 1 == matched.arms.len());
                    self.visit_expr(&arm.body);
                }
            }
            Expr::Struct(structure) => match &structure.rest {
                Some(rest) => self.fields(structure, rest),
                None => visit::visit_expr(self, node),
            },
            Expr::Repeat(repeat) => self.visit_expr(&repeat.expr),
            Expr::Const(_) | Expr::Macro(_) => {}
            _ => visit::visit_expr(self, node),
        }
    }

    // Constants, types and patterns are evaluated by the compiler.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_path(&mut self, _: &'ast syn::Path) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_angle_bracketed_generic_arguments(
        &mut self,
        _: &'ast syn::AngleBracketedGenericArguments,
    ) {
    }
}

impl Finder<'_> {
    fn unary(&mut self, node: &Expr, unary: &syn::ExprUnary) {
        let whole = range(node);
        let edit = match unary.op {
            UnOp::Not(_) => {
                let edit = self.add(whole.start, "delete !", Some(whole.clone()));
                self.found
                    .pieces
                    .open(edit, whole.start, format!("({} != ", made(edit)));
                edit
            }
            UnOp::Neg(_) if !matches!(*unary.expr, Expr::Lit(_)) => {
                let edit = self.add(whole.start, "delete -", Some(whole.clone()));
                let sign = range(&unary.op);
                self.found.pieces.replace(edit, sign, "(match ".into());
                let close = format!(
                    " {{ juror_value => if {} {{ juror_value }} else {{ -juror_value }} }})",
                    made(edit)
                );
                self.visit_expr(&unary.expr);
                return self.found.pieces.close(edit, whole.end, close);
            }
            _ => return self.visit_expr(&unary.expr),
        };
        self.visit_expr(&unary.expr);
        self.found.pieces.close(edit, whole.end, ")".into());
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute
                    .parse_args::<syn::Path>()
                    .is_ok_and(|path| path.is_ident("test"))
    })
}

/// Returns whether a pattern matches everything, without a guard.
fn is_catch_all(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) => true,
        Pat::Ident(name) => {
            name.subpat.is_none()
                && name
                    .ident
                    .to_string()
                    .starts_with(|c: char| c.is_lowercase() || c == '_')
        }
        _ => false,
    }
}

/// Returns whether a condition binds names (`let PATTERN = …`).
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        Expr::Paren(inner) => has_let(&inner.expr),
        _ => false,
    }
}
