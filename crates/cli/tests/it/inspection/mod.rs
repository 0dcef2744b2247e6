//! A stopped program: stacks, registers, memory, instructions, symbols.

mod instructions_and_lists;
mod labels_of_assembly;
mod registers_and_memory;
mod selected_frames;
mod several_stacks;
mod source_files;
mod stack_ends;
mod symbols;
