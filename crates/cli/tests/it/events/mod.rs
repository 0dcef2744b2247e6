//! Events of running programs: each is reported once, with its values.

mod calls;
mod coroutines;
mod during_evaluations;
mod dynamic_instrumentation;
mod exactly_once;
mod inlined_calls;
mod local_variables;
mod one_object;
mod other_kinds;
mod parts_of_containers;
mod results_of_rust;
mod signatures;
mod system_call_stops;
mod which_function;
