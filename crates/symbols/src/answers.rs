//! Answers that are asked for again: a breakpoint asks for its place when it is set, bound and
//! described, and again in each process and with each library that is loaded.

use rustc_hash::FxHashMap;
use std::borrow::Borrow;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of answers that are remembered.
const ANSWERS_MAX: usize = 4096;

/// Lists of answers by their questions.
#[derive(Debug)]
pub(crate) struct Answers<Q, A>(Mutex<FxHashMap<Q, Arc<[A]>>>);

impl<Q, A> Default for Answers<Q, A> {
    fn default() -> Answers<Q, A> {
        Answers(Mutex::default())
    }
}

impl<Q: Eq + Hash, A: Clone> Answers<Q, A> {
    /// Returns the known answers, or the result of `search`.
    pub fn get_or_search<B>(&self, question: &B, search: impl FnOnce() -> Vec<A>) -> Vec<A>
    where
        Q: Borrow<B> + for<'a> From<&'a B>,
        B: Eq + Hash + ?Sized,
    {
        if let Some(known) = self.lock().get(question) {
            return known.to_vec();
        }
        // Without the lock: a search takes long, and may ask another question.
        let answers = search();
        let mut found = self.lock();
        if found.len() >= ANSWERS_MAX {
            found.clear();
        }
        found.insert(Q::from(question), answers.as_slice().into());
        answers
    }

    /// Returns whether the answers are known.
    pub fn has<B>(&self, question: &B) -> bool
    where
        Q: Borrow<B>,
        B: Eq + Hash + ?Sized,
    {
        self.lock().contains_key(question)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, FxHashMap<Q, Arc<[A]>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_searched_once() {
        let answers: Answers<Box<str>, u32> = Answers::default();
        assert!(!answers.has("one"));
        assert_eq!(answers.get_or_search("one", || vec![1]), [1]);
        assert!(answers.has("one"));
        assert_eq!(answers.get_or_search("one", || panic!("known")), [1]);
        for number in 0..2 * ANSWERS_MAX {
            answers.get_or_search(&*number.to_string(), Vec::new);
        }
        assert!(answers.lock().len() <= ANSWERS_MAX);
    }
}
