//! How values and types are shown.

mod declared_types;
mod other_languages;
mod pretty_printers;
mod rare_debug_information;
mod value_history;
mod wrapped_values;
