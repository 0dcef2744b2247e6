//! Text that is inserted into a source, and how the edited source is put together.

use std::collections::BTreeSet;
use std::ops::Range;

/// Where an insertion comes among those at one place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    /// Behind what ends here; the inner expression's insertion comes first.
    Close,
    /// Before what begins here; the outer expression's insertion comes first.
    Open,
    /// Instead of a token.
    Instead,
}

/// One insertion.
struct Piece {
    edit: usize,
    replaced: Range<usize>,
    order: Order,
    text: String,
}

/// The insertions of all edits of one source.
#[derive(Default)]
pub struct Pieces {
    pieces: Vec<Piece>,
}

/// An edited source, and where its edits are.
pub struct Rendered {
    /// The text.
    pub text: String,
    /// Each insertion's edit and place in the text.
    pub places: Vec<(usize, Range<usize>)>,
}

impl Pieces {
    /// Inserts a text before the expression that begins at an offset. Outer expressions come
    /// before inner ones.
    pub fn open(&mut self, edit: usize, at: usize, text: String) {
        self.push(edit, at..at, Order::Open, text);
    }

    /// Inserts a text behind the expression that ends at an offset. Inner expressions come
    /// before outer ones.
    pub fn close(&mut self, edit: usize, at: usize, text: String) {
        self.push(edit, at..at, Order::Close, text);
    }

    /// Replaces a token.
    pub fn replace(&mut self, edit: usize, token: Range<usize>, text: String) {
        self.push(edit, token, Order::Instead, text);
    }

    fn push(&mut self, edit: usize, replaced: Range<usize>, order: Order, text: String) {
        self.pieces.push(Piece {
            edit,
            replaced,
            order,
            text,
        });
    }

    /// Returns the source with all edits but the dropped ones.
    pub fn render(&self, source: &str, dropped: &BTreeSet<usize>) -> Rendered {
        let mut kept: Vec<&Piece> = self
            .pieces
            .iter()
            .filter(|piece| !dropped.contains(&piece.edit))
            .collect();
        kept.sort_by_key(|piece| (piece.replaced.start, piece.order));
        let mut rendered = Rendered {
            text: String::new(),
            places: Vec::new(),
        };
        let mut done = 0;
        for piece in kept {
            if piece.replaced.start > done {
                rendered.text.push_str(&source[done..piece.replaced.start]);
            }
            done = done.max(piece.replaced.start);
            let start = rendered.text.len();
            rendered.text.push_str(&piece.text);
            rendered
                .places
                .push((piece.edit, start..rendered.text.len()));
            done = done.max(piece.replaced.end);
        }
        rendered.text.push_str(&source[done..]);
        rendered
    }
}
