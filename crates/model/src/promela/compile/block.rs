//! Compound statements: blocks, choices, escapes.
//!
//! Nested statements become a separate sequence. Names and labels of a block are local to
//! it.

use super::{Compiled, Compiler, Reported};
use crate::Span;
use crate::promela::graph::{ElementKind, LabelId, Sequence};
use crate::promela::syntax::{Statement, StatementKind};

impl Compiler {
    /// Compiles statements as a sequence with a scope.
    fn sequence(
        &mut self,
        statements: &[Statement],
        span: Span,
        scoped: bool,
    ) -> Compiled<Sequence> {
        self.begin_sequence(scoped)?;
        let result = self.statements(statements);
        let sequence = self.end_sequence(span, scoped)?;
        result.map(|()| sequence)
    }

    pub(super) fn begin_sequence(&mut self, scoped: bool) -> Compiled<()> {
        let frame = self.frame.as_mut().ok_or(Reported)?;
        frame.at_beginning = false;
        frame.graph.open();
        if scoped {
            frame.scopes.push(Default::default());
        }
        Ok(())
    }

    pub(super) fn end_sequence(&mut self, span: Span, scoped: bool) -> Compiled<Sequence> {
        let frame = self.frame.as_mut().ok_or(Reported)?;
        if scoped {
            frame.scopes.pop();
        }
        Ok(frame.graph.close(span))
    }

    /// Starts a block as the scope of labels.
    pub(super) fn begin_block(&mut self) {
        if let Some(frame) = &mut self.frame {
            frame.block_count += 1;
            frame.blocks.push(frame.block_count);
        }
    }

    pub(super) fn end_block(&mut self) {
        if let Some(frame) = &mut self.frame {
            frame.blocks.pop();
        }
    }

    pub(super) fn blocks(&self) -> Vec<u32> {
        let frame = self.frame.as_ref();
        frame.map_or_else(Vec::new, |frame| frame.blocks.clone())
    }

    pub(super) fn block(
        &mut self,
        kind: ElementKind,
        body: &[Statement],
        instance: Option<u32>,
        labels: &[LabelId],
        span: Span,
    ) -> Compiled<()> {
        if let (Some(instance), Some(frame)) = (instance, &mut self.frame) {
            frame.instances.push(instance);
        }
        self.begin_block();
        let inside = self.sequence(body, span, true);
        self.end_block();
        if let (Some(_), Some(frame)) = (instance, &mut self.frame) {
            frame.instances.pop();
        }
        let inside = inside?;
        self.graph()?.block(kind, inside, labels, span);
        Ok(())
    }

    pub(super) fn choice(
        &mut self,
        options: &[Vec<Statement>],
        is_loop: bool,
        labels: &[LabelId],
        span: Span,
    ) -> Compiled<()> {
        if is_loop {
            self.graph()?.push_break();
        }
        let mut sequences = Vec::new();
        let mut result = Ok(());
        for option in options {
            match self.sequence(option, span, false) {
                Ok(sequence) => sequences.push(sequence),
                Err(Reported) => result = Err(Reported),
            }
        }
        let graph = self.graph()?;
        for sequence in &sequences {
            graph.prune(*sequence);
        }
        graph.choice(sequences, is_loop, labels, span);
        result
    }

    pub(super) fn unless(
        &mut self,
        normal: &Statement,
        escape: &Statement,
        labels: &[LabelId],
        span: Span,
    ) -> Compiled<()> {
        let part = |compiler: &mut Compiler, statement: &Statement| match &statement.kind {
            StatementKind::Block {
                body,
                instance: None,
            } => compiler.sequence(body, span, true),
            _ => compiler.sequence(std::slice::from_ref(statement), span, false),
        };
        let normal = part(self, normal)?;
        let escape = part(self, escape)?;
        self.graph()?.unless(normal, escape, labels, span);
        Ok(())
    }
}
