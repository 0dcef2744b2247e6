//! Expressions: their values, names and assignments.

mod assignments;
mod assignments_in_expressions;
mod calls_of_changed_functions;
mod compiled_expressions;
mod inline_namespaces;
mod names_in_blocks;
mod names_in_calls;
mod parameter_packs;
mod random_scopes;
mod same_value_everywhere;
mod scopes_of_names;
mod temporaries;
mod types_and_words;
