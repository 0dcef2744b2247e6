//! The implementations that create the states of a machine.

use crate::derivative::Derivatives;
use crate::product::Product;
use crate::residual::Residuals;
use crate::work::Work;
use crate::{Formula, Guard, LogicError};
use juror_event::Verdict;

/// A formula or an expression that computes successor states.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Formula(Box<Residuals>),
    Product(Box<Product>),
    Expression(Box<Derivatives>),
}

impl Source {
    pub fn of(formula: &Formula) -> Result<Source, LogicError> {
        if let Some(product) = Product::new(formula)? {
            return Ok(Source::Product(Box::new(product)));
        }
        match Residuals::new(formula) {
            Ok(residuals) => Ok(Source::Formula(Box::new(residuals))),
            Err(error @ (LogicError::TooMuchWork { .. } | LogicError::TooManyWays { .. })) => {
                let product = Product::of_smallest(formula)?;
                product.map(Box::new).map(Source::Product).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Source::Formula(residuals) => residuals.len(),
            Source::Product(product) => product.len(),
            Source::Expression(derivatives) => derivatives.len(),
        }
    }

    pub fn verdict(&self, state: u32) -> Verdict {
        match self {
            Source::Formula(residuals) => residuals.verdict(state),
            Source::Product(product) => product.verdict(state),
            Source::Expression(derivatives) => derivatives.verdict(state),
        }
    }

    pub fn guards(&self, state: u32) -> Vec<Guard> {
        match self {
            Source::Formula(residuals) => residuals.guards(state).collect(),
            Source::Product(product) => product.guards(state).collect(),
            Source::Expression(derivatives) => derivatives.guards(state).collect(),
        }
    }

    pub fn work(&mut self) -> &mut Work {
        match self {
            Source::Formula(residuals) => residuals.work(),
            Source::Product(product) => product.work(),
            Source::Expression(derivatives) => derivatives.work(),
        }
    }

    pub fn step(&mut self, state: u32, letter: u64) -> Result<u32, LogicError> {
        match self {
            Source::Formula(residuals) => residuals.step(state, letter),
            Source::Product(product) => product.step(state, letter),
            Source::Expression(derivatives) => derivatives.step(state, letter),
        }
    }
}
