//! Lays out the stack and registers that a thread has at the entry of a called function.
//!
//! From the present stack pointer downwards: the red zone, which is kept; room for the result; the
//! targets of pointers; the arguments; the return address.

use super::PlannedCall;
use super::passing::Passed;
use juror_arch::abi::{self, RED_ZONE};
use juror_arch::dwarf;
use juror_debuggee::Call;
use juror_symbols::{EntryPiece, EntryPieceLocation};

/// The alignment of each area, which is enough for every type and for the stack.
const ALIGNMENT: u64 = 64;
/// The most bytes that a call may put on the stack.
const SIZE_MAX: u64 = 256 << 10;

/// Lays out a planned call for a thread with the stack pointer `stack`. Returns the call, and the
/// address of its result if it is returned in memory.
pub fn lay_out(
    planned: &PlannedCall,
    number: u32,
    stack: u64,
) -> Result<(Call, Option<u64>), String> {
    let too_large = || format!("the arguments of `{}` are too large", planned.name);
    let outgoing = &planned.outgoing;
    let result_size = outgoing
        .result_pointer
        .map(|_| outgoing.result.r#type.size().unwrap_or(0));
    let arguments = outgoing.stack_size.next_multiple_of(ALIGNMENT);
    let mut end = arguments;
    let mut take = |size: u64| {
        let start = end;
        end = end.checked_add(size)?.checked_next_multiple_of(ALIGNMENT)?;
        (end <= SIZE_MAX).then_some(start)
    };
    let offsets: Vec<Option<u64>> = planned
        .arguments
        .iter()
        .map(|passed| match &passed.pointed {
            Some(pointed) => take(pointed.len() as u64).map(Some).ok_or_else(too_large),
            None => Ok(None),
        })
        .collect::<Result<_, _>>()?;
    let result = match result_size {
        Some(size) => Some(take(size).ok_or_else(too_large)?),
        None => None,
    };
    let top = stack.checked_sub(RED_ZONE).ok_or_else(too_large)? & !(ALIGNMENT - 1);
    let frame = top.checked_sub(end).ok_or_else(too_large)?;

    let mut image = Image {
        call: Call {
            number,
            function: planned.address,
            stack: frame.wrapping_sub(8),
            above: vec![0; end as usize],
            registers: vec![(abi::VECTOR_COUNT, u64::from(outgoing.vector_count))],
            vectors: Vec::new(),
        },
    };
    for ((passed, location), offset) in planned
        .arguments
        .iter()
        .zip(&outgoing.arguments)
        .zip(offsets)
    {
        let mut passed = passed.clone();
        if let (Some(offset), Some(pointed)) = (offset, passed.pointed.take()) {
            image.write(offset, &pointed);
            passed.bytes = (frame + offset).to_le_bytes().to_vec();
        }
        for piece in location {
            image.put(&passed, piece);
        }
    }
    let result = result.map(|offset| frame + offset);
    if let (Some(register), Some(address)) = (outgoing.result_pointer, result) {
        image.call.registers.push((register, address));
    }
    Ok((image.call, result))
}

struct Image {
    call: Call,
}

impl Image {
    fn write(&mut self, offset: u64, bytes: &[u8]) {
        let start = offset as usize;
        if let Some(room) = self.call.above.get_mut(start..start + bytes.len()) {
            room.copy_from_slice(bytes);
        }
    }

    /// Stores a piece of an argument. A small integer fills its register or eightbyte, on which
    /// some compilers rely.
    fn put(&mut self, passed: &Passed, piece: &EntryPiece) {
        let (start, size) = (piece.offset as usize, piece.size as usize);
        let end = (start + size).min(passed.bytes.len());
        let mut bytes = passed.bytes.get(start..end).unwrap_or(&[]).to_vec();
        bytes.resize(bytes.len().next_multiple_of(8), passed.fill);
        match piece.location {
            EntryPieceLocation::Register(number) => match dwarf::vector_index(number) {
                Some(index) => {
                    bytes.resize(16, 0);
                    let mut value = [0; 16];
                    value.copy_from_slice(bytes.get(..16).unwrap_or(&[0; 16]));
                    self.call.vectors.push((index, value));
                }
                None => {
                    let mut word = [0; 8];
                    word.copy_from_slice(bytes.get(..8).unwrap_or(&[0; 8]));
                    let word = u64::from_le_bytes(word);
                    self.call.registers.push((number, word));
                }
            },
            EntryPieceLocation::Stack(offset) => self.write(offset as u64, &bytes),
            EntryPieceLocation::RegisterPart { .. }
            | EntryPieceLocation::PointedByRegister(_)
            | EntryPieceLocation::PointedByStack(_)
            | EntryPieceLocation::Constant(_)
            | EntryPieceLocation::Unavailable(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Argument;
    use super::super::passing::promote;
    use super::*;
    use juror_symbols::{Type, outgoing_call_of_c};
    use juror_values::typed::NoMemory;
    use juror_values::typed::{Number, Typed};

    const STACK: u64 = 0x7fff_0000_1234;

    fn laid_out(arguments: &[Argument], result: &Type) -> (Call, Option<u64>) {
        let arguments: Vec<Passed> = arguments
            .iter()
            .map(|argument| promote(argument, &NoMemory).unwrap())
            .collect();
        let types: Vec<Type> = arguments
            .iter()
            .map(|passed| passed.r#type.clone())
            .collect();
        let planned = PlannedCall {
            address: 0x1000,
            name: "f".to_owned(),
            is_result_assumed: false,
            outgoing: outgoing_call_of_c(&types, result),
            arguments,
        };
        lay_out(&planned, 7, STACK).unwrap()
    }

    fn int(value: i128) -> Argument {
        Argument::Value(Typed::of_integer(value).unwrap())
    }

    #[test]
    fn the_stack_is_aligned_below_the_red_zone() {
        let (call, result) = laid_out(&[], &Type::void());
        assert_eq!((call.stack + 8) % 64, 0);
        assert!(call.stack + 8 + call.above.len() as u64 <= STACK - RED_ZONE);
        assert_eq!((call.number, call.function, result), (7, 0x1000, None));
        assert_eq!(call.registers, [(abi::VECTOR_COUNT, 0)]);
    }

    #[test]
    fn arguments_go_to_registers_then_to_the_stack() {
        let many: Vec<Argument> = (1..=8).map(int).collect();
        let (call, _) = laid_out(&many, &Type::void());
        let given: Vec<u64> = call.registers[1..]
            .iter()
            .map(|(_, value)| *value)
            .collect();
        assert_eq!(given, [1, 2, 3, 4, 5, 6]);
        assert_eq!(
            call.above[..16],
            [7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]
        );
    }

    #[test]
    fn fractions_are_counted_in_al() {
        let fraction = Argument::Value(Typed::of_number(&Number::Float(1.5)).unwrap());
        let (call, _) = laid_out(&[fraction, int(-1)], &Type::void());
        assert_eq!(
            call.registers,
            [
                (abi::VECTOR_COUNT, 1),
                (abi::INTEGER_ARGUMENTS[0], u64::MAX)
            ]
        );
        assert_eq!(call.vectors[0].1[..8], 1.5f64.to_le_bytes());
    }

    #[test]
    fn text_lies_above_the_arguments() {
        let (call, _) = laid_out(&[Argument::String("hello".into())], &Type::void());
        let (_, address) = call.registers[1];
        let offset = (address - call.stack - 8) as usize;
        assert_eq!(call.above[offset..offset + 6], *b"hello\0");
        assert!(address + 6 <= STACK - RED_ZONE);
    }

    #[test]
    fn a_large_result_gets_room_and_its_address_goes_first() {
        let large = Type::builtin("long").unwrap().array_of(5);
        let (call, result) = laid_out(&[int(3)], &large);
        let result = result.unwrap();
        assert!(result > call.stack && result + 40 <= STACK - RED_ZONE);
        let by_number = |number| call.registers.iter().find(|(n, _)| *n == number).unwrap().1;
        assert_eq!(by_number(abi::INTEGER_ARGUMENTS[0]), result);
        assert_eq!(by_number(abi::INTEGER_ARGUMENTS[1]), 3);
    }

    #[test]
    fn too_much_is_refused() {
        let text = "x".repeat(SIZE_MAX as usize);
        let passed = promote(&Argument::String(text.as_str().into()), &NoMemory).unwrap();
        let planned = PlannedCall {
            address: 0,
            name: "f".to_owned(),
            is_result_assumed: false,
            outgoing: outgoing_call_of_c(std::slice::from_ref(&passed.r#type), &Type::void()),
            arguments: vec![passed],
        };
        assert!(
            lay_out(&planned, 1, STACK)
                .unwrap_err()
                .contains("too large")
        );
        assert!(lay_out(&planned, 1, 64).is_err());
    }
}
