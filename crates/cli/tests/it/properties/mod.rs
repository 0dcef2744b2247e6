//! Properties over running programs: guards, deadlines, verdicts.

mod at_the_prompt;
mod deadlines;
mod guards;
mod legal_uses;
mod real_programs;
mod undecided;
mod used_files;
