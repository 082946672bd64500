//! Turns the bitcode of a kernel into code of this machine.
//!
//! Before that, every load and store that is not to the kernel's own variables is led through a check, so that scalar
//! accesses to global memory are seen and cannot leave a buffer; and an entry is added that takes the arguments from
//! an array, whatever their types are.

use std::collections::HashSet;
use std::ffi::c_void;
use std::path::Path;

use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::Context;
use inkwell::execution_engine::ExecutionEngine;
use inkwell::module::Module;
use inkwell::targets::{InitializationConfig, Target};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue,
    PointerValue,
};
use inkwell::{AddressSpace, OptimizationLevel};

use crate::bitcode::{defined_functions, load};
use crate::error::Error;

/// Start of the names of the added entries; their numbers follow.
const ENTRY: &str = "pto_host_entry";
/// Name of the check of a scalar access: pointer, bytes, whether it writes, line; gives the pointer to use.
const ACCESS: &str = "pto_host_access";
/// Name of the check of a division: dividend, divisor, line; gives the divisor to use.
const DIVISOR: &str = "pto_host_divisor";

/// Code of a kernel. It stays in memory as long as this.
pub(super) struct Code<'ctx> {
    _engine: ExecutionEngine<'ctx>,
    /// The entries in the order in which they were asked for.
    pub entries: Vec<Entry>,
}

/// An entry: takes an array of one 64-bit word for each parameter.
pub(super) type Entry = extern "C" fn(*const u64);

/// The functions that kernels call.
pub(super) struct Hooks {
    pub call: *const c_void,
    pub access: *const c_void,
    pub divisor: *const c_void,
}

/// Compiles functions of a bitcode file.
pub(super) fn compile<'ctx>(
    context: &'ctx Context,
    bitcode: &Path,
    entries: &[&str],
    hooks: &Hooks,
) -> Result<Code<'ctx>, Error> {
    let failed = |reason: String| Error::InvalidBitcode { file: bitcode.to_owned(), reason };
    let module = load(context, bitcode)?;
    let functions: Vec<FunctionValue> = entries
        .iter()
        .map(|entry| function(&module, entry).ok_or_else(|| failed(format!("there is no function '{entry}'"))))
        .collect::<Result<_, _>>()?;
    guard(context, &module).map_err(|e| failed(e.to_string()))?;
    guard_divisions(context, &module).map_err(|e| failed(e.to_string()))?;
    for (number, function) in functions.into_iter().enumerate() {
        add_entry(context, &module, number, function).map_err(|e| failed(e.to_string()))?;
    }
    module.verify().map_err(|e| failed(e.to_string()))?;
    Target::initialize_native(&InitializationConfig::default()).map_err(failed)?;
    conversions();
    let engine = module.create_jit_execution_engine(OptimizationLevel::None).map_err(|e| failed(e.to_string()))?;
    for (name, address) in [("pto_host_call", hooks.call), (ACCESS, hooks.access), (DIVISOR, hooks.divisor)] {
        if let Some(function) = module.get_function(name) {
            engine.add_global_mapping(&function, address as usize);
        }
    }
    let mut pointers = Vec::new();
    for number in 0..entries.len() {
        let address = engine.get_function_address(&format!("{ENTRY}{number}")).map_err(|e| failed(e.to_string()))?;
        // SAFETY: `add_entry` made the function with this signature; the engine that owns it is kept beside it.
        pointers.push(unsafe { std::mem::transmute::<usize, Entry>(address) });
    }
    Ok(Code { _engine: engine, entries: pointers })
}

/// A function by the name that the kernel's text has for it.
fn function<'ctx>(module: &Module<'ctx>, name: &str) -> Option<FunctionValue<'ctx>> {
    // The symbol of a function that is not extern "C" starts so.
    let mangled = format!("_Z{}{name}", name.len());
    defined_functions(module).into_iter().find(|f| {
        let symbol = f.get_name().to_string_lossy();
        symbol == name || symbol.strip_prefix(&mangled).is_some_and(|rest| !rest.starts_with('_'))
    })
}

/// Functions that the compiler calls to convert 16-bit floats, which a program's own libraries may lack.
fn conversions() {
    // A 16-bit float is passed in the low half of a float register.
    extern "C" fn f16_to_f32(value: f32) -> f32 {
        half::f16::from_bits(value.to_bits() as u16).to_f32()
    }
    extern "C" fn f32_to_f16(value: f32) -> f32 {
        f32::from_bits(u32::from(half::f16::from_f32(value).to_bits()))
    }
    extern "C" fn f64_to_f16(value: f64) -> f32 {
        f32::from_bits(u32::from(half::f16::from_f64(value).to_bits()))
    }
    extern "C" fn f32_to_bf16(value: f32) -> f32 {
        f32::from_bits(u32::from(half::bf16::from_f32(value).to_bits()))
    }
    extern "C" fn f64_to_bf16(value: f64) -> f32 {
        f32::from_bits(u32::from(half::bf16::from_f64(value).to_bits()))
    }
    let functions: [(&std::ffi::CStr, *const c_void); 5] = [
        (c"__extendhfsf2", f16_to_f32 as *const c_void),
        (c"__truncsfhf2", f32_to_f16 as *const c_void),
        (c"__truncdfhf2", f64_to_f16 as *const c_void),
        (c"__truncsfbf2", f32_to_bf16 as *const c_void),
        (c"__truncdfbf2", f64_to_bf16 as *const c_void),
    ];
    for (name, address) in functions {
        // SAFETY: both live as long as the program.
        unsafe { inkwell::llvm_sys::support::LLVMAddSymbol(name.as_ptr(), address.cast_mut()) };
    }
}

/// Leads loads and stores of memory that is not the kernel's own through the check.
fn guard<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<(), Box<dyn std::error::Error>> {
    let pointer = context.ptr_type(AddressSpace::default());
    let signature = pointer.fn_type(
        &[pointer.into(), context.i64_type().into(), context.i32_type().into(), context.i32_type().into()],
        false,
    );
    let check = module.add_function(ACCESS, signature, None);
    let builder = context.create_builder();
    for function in defined_functions(module) {
        for instruction in instructions(function) {
            for (operand, write, bytes) in accesses(instruction) {
                let Some(address) = pointer_operand(instruction, operand) else { continue };
                if is_own(address, &mut HashSet::new()) {
                    continue;
                }
                if bytes > LARGEST {
                    return Err("more than 512 bytes are copied at once by no instruction".into());
                }
                builder.position_before(&instruction);
                let arguments = [
                    address.into(),
                    context.i64_type().const_int(bytes, false).into(),
                    context.i32_type().const_int(u64::from(write), false).into(),
                ];
                if let Some(checked) = ask(context, &builder, check, instruction, &arguments)? {
                    instruction.set_operand(operand, checked);
                }
            }
        }
    }
    Ok(())
}

/// Calls a check before an instruction, where the builder stands, with the instruction's line as last argument.
fn ask<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    check: FunctionValue<'ctx>,
    instruction: InstructionValue<'ctx>,
    arguments: &[BasicMetadataValueEnum<'ctx>],
) -> Result<Option<BasicValueEnum<'ctx>>, BuilderError> {
    let line = instruction.get_debug_location().map_or(0, |l| l.get_line());
    let line = context.i32_type().const_int(u64::from(line), false).into();
    let call = builder.build_call(check, &[arguments, &[line]].concat(), "checked")?;
    Ok(call.try_as_basic_value().basic())
}

/// Leads divisors that are not constants through a check: this machine stops a program that divides by zero.
fn guard_divisions<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<(), Box<dyn std::error::Error>> {
    let word = context.i64_type();
    let signature = word.fn_type(&[word.into(), word.into(), context.i32_type().into()], false);
    let check = module.add_function(DIVISOR, signature, None);
    let builder = context.create_builder();
    for instruction in defined_functions(module).into_iter().flat_map(instructions) {
        use InstructionOpcode::{SDiv, SRem, UDiv, URem};
        let signed = match instruction.get_opcode() {
            SDiv | SRem => true,
            UDiv | URem => false,
            _ => continue,
        };
        let operand = |index: u32| instruction.get_operand(index).and_then(|o| o.value());
        let (Some(BasicValueEnum::IntValue(dividend)), Some(BasicValueEnum::IntValue(divisor))) =
            (operand(0), operand(1))
        else {
            continue;
        };
        let own = divisor.get_type();
        if divisor.is_const() || own.get_bit_width() > 64 {
            continue;
        }
        builder.position_before(&instruction);
        let wide = |value, name| builder.build_int_cast_sign_flag(value, word, signed, name);
        let arguments = [wide(dividend, "dividend")?.into(), wide(divisor, "divisor")?.into()];
        let Some(checked) = ask(context, &builder, check, instruction, &arguments)? else { continue };
        let narrow = builder.build_int_cast_sign_flag(checked.into_int_value(), own, signed, "safe")?;
        instruction.set_operand(1, narrow.as_basic_value_enum());
    }
    Ok(())
}

/// Bytes that a scalar access may have: what the check gives in place of memory that is not there is as large.
const LARGEST: u64 = 512;

/// What an instruction reads and writes: operand with the address, whether it writes, bytes.
fn accesses(instruction: InstructionValue) -> Vec<(u32, bool, u64)> {
    let value = |index| instruction.get_operand(index).and_then(|o| o.value());
    match instruction.get_opcode() {
        InstructionOpcode::Load => vec![(0, false, size_of_type(instruction.get_type().try_into().ok()))],
        InstructionOpcode::Store => vec![(1, true, size_of_type(value(0).map(|v| v.get_type())))],
        // Structures are copied and cleared as a whole.
        InstructionOpcode::Call => {
            let callee = instruction.get_num_operands().checked_sub(1).and_then(|c| pointer_operand(instruction, c));
            if !callee.is_some_and(|f| f.get_name().to_bytes().starts_with(b"llvm.mem")) {
                return Vec::new();
            }
            let bytes = match value(2) {
                Some(BasicValueEnum::IntValue(length)) => length.get_zero_extended_constant().unwrap_or(u64::MAX),
                _ => u64::MAX,
            };
            vec![(0, true, bytes), (1, false, bytes)]
        }
        _ => Vec::new(),
    }
}

fn pointer_operand<'ctx>(instruction: InstructionValue<'ctx>, index: u32) -> Option<PointerValue<'ctx>> {
    match instruction.get_operand(index).and_then(|o| o.value()) {
        Some(BasicValueEnum::PointerValue(pointer)) => Some(pointer),
        _ => None,
    }
}

fn size_of_type(value_type: Option<inkwell::types::BasicTypeEnum>) -> u64 {
    use inkwell::types::BasicTypeEnum::{FloatType, IntType};
    match value_type {
        Some(IntType(int)) => u64::from(int.get_bit_width().div_ceil(8)),
        Some(FloatType(float)) => u64::from(float.get_bit_width().div_ceil(8)),
        _ => 8,
    }
}

fn instructions<'ctx>(function: FunctionValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
    let blocks: Vec<BasicBlock> = function.get_basic_blocks();
    blocks.into_iter().flat_map(|block| block.get_instructions()).collect()
}

/// Whether a pointer is to a variable of the kernel or a constant of the program.
fn is_own<'ctx>(pointer: PointerValue<'ctx>, seen: &mut HashSet<PointerValue<'ctx>>) -> bool {
    if !seen.insert(pointer) {
        return true;
    }
    let Some(instruction) = pointer.as_instruction_value() else {
        // A constant: a global, or an address computed from one. What is not is a parameter.
        return pointer.is_const();
    };
    let operand = |index: u32| instruction.get_operand(index).and_then(|o| o.value());
    let mut follow = |value: Option<BasicValueEnum<'ctx>>| match value {
        Some(BasicValueEnum::PointerValue(next)) => is_own(next, seen),
        _ => false,
    };
    match instruction.get_opcode() {
        InstructionOpcode::Alloca => true,
        InstructionOpcode::GetElementPtr | InstructionOpcode::BitCast => follow(operand(0)),
        InstructionOpcode::Phi => (0..instruction.get_num_operands()).all(|i| follow(operand(i))),
        InstructionOpcode::Select => follow(operand(1)) && follow(operand(2)),
        _ => false,
    }
}

/// Adds the entry: `void pto_host_entry(const uint64_t* words)`.
fn add_entry<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    number: usize,
    function: FunctionValue<'ctx>,
) -> Result<(), Box<dyn std::error::Error>> {
    let pointer = context.ptr_type(AddressSpace::default());
    let name = format!("{ENTRY}{number}");
    let entry = module.add_function(&name, context.void_type().fn_type(&[pointer.into()], false), None);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(entry, "entry"));
    let words = entry.get_nth_param(0).ok_or("the entry has a parameter")?.into_pointer_value();
    let mut arguments = Vec::new();
    for (index, parameter) in function.get_param_iter().enumerate() {
        let offset = context.i64_type().const_int(8 * index as u64, false);
        // SAFETY: the caller passes a word for each parameter.
        let place = unsafe { builder.build_gep(context.i8_type(), words, &[offset], "place")? };
        let value_type = parameter.get_type();
        arguments.push(builder.build_load(value_type, place, "argument")?.into());
    }
    builder.build_call(function, &arguments, "")?;
    builder.build_return(None)?;
    Ok(())
}
