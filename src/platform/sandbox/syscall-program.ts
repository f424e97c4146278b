import type { FilterArchitecture } from "./seccomp-filter.ts";

// Assembles programs that make system calls and need nothing but the kernel: no libc, no interpreter, no compiler. A user's
// host may have neither Python nor Perl, and a strict sandbox contains only a part of the host.
//
// A program is one ELF segment, which can be read and run, not written: the file header, the code, and the data.

/** A value in a register of a call. */
export type CallArgument =
  /** A number; as many bits as the register has. */
  | number
  | bigint
  /** The address of these bytes, which cannot be written. */
  | { readonly bytes: Buffer }
  /** The address of memory that is zero and can be written: so many bytes below the stack. */
  | { readonly belowStack: number }
  /** What an earlier call has returned, counted from 0. */
  | { readonly resultOf: number };

export type SystemCall = {
  readonly numbers: Readonly<Record<FilterArchitecture, number>>;
  /** At most six. */
  readonly args: readonly CallArgument[];
  /** Whether the program goes on if the call fails. */
  readonly mayFail?: boolean;
};

/** Results are stored in registers that calls leave alone. */
export const MAX_CALLS = 16;

/** Programs of x64 usually start here, on a page of any size. */
const BASE = 0x40_0000;
const FILE_HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
const CODE_OFFSET = FILE_HEADER_BYTES + PROGRAM_HEADER_BYTES;

/** The largest page of arm64. */
const ALIGNMENT = 0x1_0000;

/** `EM_X86_64` and `EM_AARCH64` of elf.h. */
const MACHINES = { x64: 62, arm64: 183 } satisfies Record<FilterArchitecture, number>;

/** `exit`: the program has one thread. */
const EXIT = { x64: 60, arm64: 93 } satisfies Record<FilterArchitecture, number>;

/** How an architecture writes what a program consists of. */
type Encoder = {
  /** Registers for results, in their order. */
  readonly saved: readonly number[];
  readonly setConstant: (argument: number, value: bigint) => Buffer;
  readonly setSaved: (argument: number, saved: number) => Buffer;
  readonly setBelowStack: (argument: number, bytes: number) => Buffer;
  readonly call: (number: number) => Buffer;
  /** Ends the program with the error's number if the call has failed. */
  readonly exitIfFailed: Buffer;
  readonly save: (saved: number) => Buffer;
};

/**
 * Assembles a program that makes calls in their order. Its exit code is the error number of the first call that fails and
 * may not, or 0.
 */
export function assembleSyscallProgram(
  architecture: FilterArchitecture,
  calls: readonly SystemCall[],
): Buffer {
  if (calls.length > MAX_CALLS) throw new RangeError(`A program makes at most ${MAX_CALLS} calls`);
  const encoder = ENCODERS[architecture];
  const exit: SystemCall = { numbers: EXIT, args: [0], mayFail: true };
  const used = new Set(
    calls.flatMap(({ args }) => args.flatMap((arg) => (isResult(arg) ? [arg.resultOf] : []))),
  );
  if (used.size > encoder.saved.length) throw new RangeError("A program uses too many results");
  const savedOf = new Map([...used].map((index, position) => [index, encoder.saved[position] as number]));

  // The size of the code does not depend on the addresses in it.
  const encode = (dataAddress: number) => {
    const data: Buffer[] = [];
    let address = dataAddress;
    const code = [...calls, exit].flatMap(({ numbers, args, mayFail }, index) => {
      if (args.length > 6) throw new RangeError("A call has at most six arguments");
      const set = args.map((arg, position) => {
        if (typeof arg === "number" || typeof arg === "bigint")
          return encoder.setConstant(position, BigInt(arg));
        if (isResult(arg)) {
          const saved = savedOf.get(arg.resultOf);
          if (saved === undefined || arg.resultOf >= index)
            throw new RangeError("No earlier call has this result");
          return encoder.setSaved(position, saved);
        }
        if ("belowStack" in arg) return encoder.setBelowStack(position, arg.belowStack);
        const at = address;
        data.push(arg.bytes);
        address += arg.bytes.length;
        return encoder.setConstant(position, BigInt(at));
      });
      const saved = savedOf.get(index);
      return [
        ...set,
        encoder.call(numbers[architecture]),
        ...(mayFail === true ? [] : [encoder.exitIfFailed]),
        ...(saved === undefined ? [] : [encoder.save(saved)]),
      ];
    });
    return { code: Buffer.concat(code), data: Buffer.concat(data) };
  };
  const { length } = encode(0).code;
  const { code, data } = encode(BASE + CODE_OFFSET + length);
  return Buffer.concat([
    buildHeaders(MACHINES[architecture], CODE_OFFSET + length + data.length),
    code,
    data,
  ]);
}

function isResult(argument: CallArgument): argument is { readonly resultOf: number } {
  return typeof argument === "object" && "resultOf" in argument;
}

/** Both architectures are 64-bit and little-endian. */
function buildHeaders(machine: number, fileBytes: number): Buffer {
  const header = Buffer.alloc(CODE_OFFSET);
  // The magic number, ELFCLASS64, ELFDATA2LSB, EV_CURRENT.
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(header);
  header.writeUInt16LE(2, 16); // e_type: ET_EXEC
  header.writeUInt16LE(machine, 18);
  header.writeUInt32LE(1, 20); // e_version
  header.writeBigUInt64LE(BigInt(BASE + CODE_OFFSET), 24); // e_entry
  header.writeBigUInt64LE(BigInt(FILE_HEADER_BYTES), 32); // e_phoff
  header.writeUInt16LE(FILE_HEADER_BYTES, 52);
  header.writeUInt16LE(PROGRAM_HEADER_BYTES, 54);
  header.writeUInt16LE(1, 56); // e_phnum
  const at = FILE_HEADER_BYTES;
  header.writeUInt32LE(1, at); // p_type: PT_LOAD
  header.writeUInt32LE(4 | 1, at + 4); // p_flags: PF_R | PF_X
  header.writeBigUInt64LE(BigInt(BASE), at + 16); // p_vaddr
  header.writeBigUInt64LE(BigInt(BASE), at + 24); // p_paddr
  header.writeBigUInt64LE(BigInt(fileBytes), at + 32); // p_filesz
  header.writeBigUInt64LE(BigInt(fileBytes), at + 40); // p_memsz
  header.writeBigUInt64LE(BigInt(ALIGNMENT), at + 48);
  return header;
}

/** Arguments are in rdi, rsi, rdx, r10, r8 and r9, the number in rax; a call overwrites rax, rcx and r11. */
const X64_ARGUMENTS = [7, 6, 2, 10, 8, 9];

/** Bits of the prefix REX: 64-bit operands, and the fourth bit of the registers in `reg` and `rm` of ModRM. */
const REX_W = 0x48;
const rexR = (register: number) => (register >> 3) << 2;
const rexB = (register: number) => register >> 3;

const X64: Encoder = {
  // rbx, rbp, r12 to r15
  saved: [3, 5, 12, 13, 14, 15],
  // movabs reg, imm64
  setConstant: (argument, value) => {
    const register = getRegister(X64_ARGUMENTS, argument);
    const bytes = Buffer.alloc(10);
    bytes.writeUInt8(REX_W | rexB(register), 0);
    bytes.writeUInt8(0xb8 | (register & 7), 1);
    bytes.writeBigUInt64LE(BigInt.asUintN(64, value), 2);
    return bytes;
  },
  setSaved: (argument, saved) => moveX64(getRegister(X64_ARGUMENTS, argument), saved),
  // lea reg, [rsp - bytes]
  setBelowStack: (argument, distance) => {
    const register = getRegister(X64_ARGUMENTS, argument);
    const bytes = Buffer.from([REX_W | rexR(register), 0x8d, 0x84 | ((register & 7) << 3), 0x24, 0, 0, 0, 0]);
    bytes.writeInt32LE(-distance, 4);
    return bytes;
  },
  // mov eax, imm32; syscall
  call: (number) => {
    const bytes = Buffer.from([0xb8, 0, 0, 0, 0, 0x0f, 0x05]);
    bytes.writeUInt32LE(number, 1);
    return bytes;
  },
  // test rax, rax; jns +13; mov rdi, rax; neg rdi; mov eax, 60; syscall
  exitIfFailed: Buffer.from("4885c0790d4889c748f7dfb83c0000000f05", "hex"),
  save: (saved) => moveX64(saved, 0),
};

/** mov to, from */
function moveX64(to: number, from: number): Buffer {
  return Buffer.from([REX_W | rexR(from) | rexB(to), 0x89, 0xc0 | ((from & 7) << 3) | (to & 7)]);
}

/** Arguments are in x0 to x5, the number in x8; a call overwrites x0 alone. */
const ARM64_ARGUMENTS = [0, 1, 2, 3, 4, 5];

const ARM64: Encoder = {
  saved: [19, 20, 21, 22, 23, 24],
  // movz xd, #…; movk xd, #…, lsl #16, #32 and #48
  setConstant: (argument, value) => {
    const register = getRegister(ARM64_ARGUMENTS, argument);
    return encodeWords(
      [0, 1, 2, 3].map((part) => {
        const bits = Number((BigInt.asUintN(64, value) >> BigInt(16 * part)) & 0xffffn);
        return (part === 0 ? 0xd280_0000 : 0xf280_0000) + (part << 21) + (bits << 5) + register;
      }),
    );
  },
  setSaved: (argument, saved) => moveArm64(getRegister(ARM64_ARGUMENTS, argument), saved),
  // sub xd, sp, #bytes
  setBelowStack: (argument, distance) => {
    if (distance > 0xfff) throw new RangeError("At most 4095 bytes below the stack");
    return encodeWords([0xd100_0000 + (distance << 10) + (31 << 5) + getRegister(ARM64_ARGUMENTS, argument)]);
  },
  // movz x8, #number; svc #0
  call: (number) => encodeWords([0xd280_0000 + (number << 5) + 8, 0xd400_0001]),
  // tbz x0, #63, +16; neg x0, x0; movz x8, #93; svc #0
  exitIfFailed: encodeWords([0xb6f8_0080, 0xcb00_03e0, 0xd280_0ba8, 0xd400_0001]),
  save: (saved) => moveArm64(saved, 0),
};

/** mov to, from: orr to, xzr, from */
function moveArm64(to: number, from: number): Buffer {
  return encodeWords([0xaa00_03e0 + from * 0x1_0000 + to]);
}

const ENCODERS = { x64: X64, arm64: ARM64 } satisfies Record<FilterArchitecture, Encoder>;

function getRegister(registers: readonly number[], argument: number): number {
  const register = registers[argument];
  if (register === undefined) throw new RangeError(`No register for argument ${argument}`);
  return register;
}

function encodeWords(words: readonly number[]): Buffer {
  const bytes = Buffer.alloc(words.length * 4);
  for (const [index, word] of words.entries()) bytes.writeUInt32LE(word >>> 0, index * 4);
  return bytes;
}
