// Assembles the filter of system calls that every process of a sandbox inherits: a classic BPF program, as
// `bwrap --seccomp` reads it.
//
// Namespaces already take the effect of most refused calls. The filter keeps processes from the kernel code of these calls,
// in which the known ways out of a namespace began, and from the two things that namespaces do not separate: sockets in the
// file system, through which services of the host can be asked, and new user namespaces, in which a process has all
// capabilities again.

/** As `process.arch` calls them. */
export type FilterArchitecture = "x64" | "arm64";

export const FILTER_ARCHITECTURES: readonly FilterArchitecture[] = ["x64", "arm64"];

/** `AUDIT_ARCH_*` of linux/audit.h. */
const AUDIT_ARCHITECTURES = { x64: 0xc000_003e, arm64: 0xc000_00b7 } satisfies Record<
  FilterArchitecture,
  number
>;

type Numbers = Readonly<Partial<Record<FilterArchitecture, number>>>;

/** Calls that fail with EPERM whatever their arguments. Numbers: asm/unistd_64.h and asm-generic/unistd.h. */
export const REFUSED_CALLS = {
  // Asynchronous I/O opens sockets and files past this filter.
  io_uring_setup: { x64: 425, arm64: 425 },
  io_uring_enter: { x64: 426, arm64: 426 },
  io_uring_register: { x64: 427, arm64: 427 },
  // Other processes.
  ptrace: { x64: 101, arm64: 117 },
  process_vm_readv: { x64: 310, arm64: 270 },
  process_vm_writev: { x64: 311, arm64: 271 },
  process_madvise: { x64: 440, arm64: 440 },
  pidfd_getfd: { x64: 438, arm64: 438 },
  kcmp: { x64: 312, arm64: 272 },
  // Mounts and roots.
  mount: { x64: 165, arm64: 40 },
  umount2: { x64: 166, arm64: 39 },
  pivot_root: { x64: 155, arm64: 41 },
  chroot: { x64: 161, arm64: 51 },
  open_tree: { x64: 428, arm64: 428 },
  open_tree_attr: { x64: 467, arm64: 467 },
  move_mount: { x64: 429, arm64: 429 },
  fsopen: { x64: 430, arm64: 430 },
  fsconfig: { x64: 431, arm64: 431 },
  fsmount: { x64: 432, arm64: 432 },
  fspick: { x64: 433, arm64: 433 },
  mount_setattr: { x64: 442, arm64: 442 },
  name_to_handle_at: { x64: 303, arm64: 264 },
  open_by_handle_at: { x64: 304, arm64: 265 },
  // Namespaces that exist.
  setns: { x64: 308, arm64: 268 },
  // Keys belong to a user, not to a namespace.
  keyctl: { x64: 250, arm64: 219 },
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  // Parts of the kernel with many past faults.
  bpf: { x64: 321, arm64: 280 },
  userfaultfd: { x64: 323, arm64: 282 },
  perf_event_open: { x64: 298, arm64: 241 },
  fanotify_init: { x64: 300, arm64: 262 },
  // The running kernel and the machine.
  kexec_load: { x64: 246, arm64: 104 },
  kexec_file_load: { x64: 320, arm64: 294 },
  create_module: { x64: 174 },
  init_module: { x64: 175, arm64: 105 },
  finit_module: { x64: 313, arm64: 273 },
  delete_module: { x64: 176, arm64: 106 },
  reboot: { x64: 169, arm64: 142 },
  swapon: { x64: 167, arm64: 224 },
  swapoff: { x64: 168, arm64: 225 },
  acct: { x64: 163, arm64: 89 },
  quotactl: { x64: 179, arm64: 60 },
  quotactl_fd: { x64: 443, arm64: 443 },
  syslog: { x64: 103, arm64: 116 },
  settimeofday: { x64: 164, arm64: 170 },
  clock_settime: { x64: 227, arm64: 112 },
  iopl: { x64: 172 },
  ioperm: { x64: 173 },
} satisfies Record<string, Numbers>;

/** Calls that the filter judges by their arguments. */
export const CHECKED_CALLS = {
  socket: { x64: 41, arm64: 198 },
  clone: { x64: 56, arm64: 220 },
  clone3: { x64: 435, arm64: 435 },
  unshare: { x64: 272, arm64: 97 },
  ioctl: { x64: 16, arm64: 29 },
} satisfies Record<string, Record<FilterArchitecture, number>>;

/** `CLONE_NEW*` of linux/sched.h, all but CLONE_NEWTIME. */
export const NAMESPACE_FLAGS = 0x7e02_0000;

/** Only `unshare` takes it: in `clone` these bits are a signal's number. */
export const CLONE_NEWTIME = 0x80;

const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;

/** Both put input into a terminal, as if the user had typed it. */
export const TERMINAL_INPUT_REQUESTS = { TIOCSTI: 0x5412, TIOCLINUX: 0x541c };

/** From here on, x86-64 counts the calls of its 32-bit form x32 (`__X32_SYSCALL_BIT`). */
const FIRST_X32_CALL = 0x4000_0000;

/** Offsets in `struct seccomp_data`. Both architectures store the low half of an argument first. */
const CALL_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
const getArgumentOffset = (index: number) => 16 + 8 * index;

/** What a filter returns: linux/seccomp.h, and the numbers of asm-generic/errno-base.h and errno.h. */
const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const FAIL_WITH_EPERM = 0x0005_0000 | 1;
const FAIL_WITH_ENOSYS = 0x0005_0000 | 38;

/** Codes of linux/bpf_common.h. */
const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

type Instruction = {
  readonly code: number;
  /** How many instructions to skip if the condition holds, and if not. */
  readonly skipIfTrue?: number;
  readonly skipIfFalse?: number;
  readonly operand: number;
};

/**
 * Assembles the filter of an architecture.
 *
 * - Calls of another architecture end the process: their numbers mean other calls.
 * - `socket` opens only internet sockets and the kernel's routing table; `socketpair` is free. Without sockets in the
 *   file system and other families, only the network namespace decides what a process reaches.
 * - `clone` and `unshare` make no namespaces. `clone3` takes its flags from memory, which a filter cannot read, so it does
 *   not exist; C libraries then call `clone`.
 */
export function assembleSeccompFilter(architecture: FilterArchitecture): Buffer {
  const program = [
    load(ARCHITECTURE_OFFSET),
    ...returnUnless(JUMP_IF_EQUAL, AUDIT_ARCHITECTURES[architecture], KILL_PROCESS),
    load(CALL_OFFSET),
    ...(architecture === "x64" ? returnIf(JUMP_IF_AT_LEAST, FIRST_X32_CALL, FAIL_WITH_ENOSYS) : []),
    ...Object.values(REFUSED_CALLS).flatMap((numbers: Numbers) => {
      const number = numbers[architecture];
      return number === undefined ? [] : returnIf(JUMP_IF_EQUAL, number, FAIL_WITH_EPERM);
    }),
    ...returnIf(JUMP_IF_EQUAL, CHECKED_CALLS.clone3[architecture], FAIL_WITH_ENOSYS),
    ...checkCall(CHECKED_CALLS.socket[architecture], [
      load(getArgumentOffset(0)),
      ...returnIf(JUMP_IF_EQUAL, AF_INET, ALLOW),
      ...returnIf(JUMP_IF_EQUAL, AF_INET6, ALLOW),
      ...returnUnless(JUMP_IF_EQUAL, AF_NETLINK, FAIL_WITH_EPERM),
      load(getArgumentOffset(2)),
      ...returnUnless(JUMP_IF_EQUAL, NETLINK_ROUTE, FAIL_WITH_EPERM),
    ]),
    ...checkCall(CHECKED_CALLS.clone[architecture], [
      load(getArgumentOffset(0)),
      ...returnIf(JUMP_IF_ANY_BIT, NAMESPACE_FLAGS, FAIL_WITH_EPERM),
    ]),
    ...checkCall(CHECKED_CALLS.unshare[architecture], [
      load(getArgumentOffset(0)),
      ...returnIf(JUMP_IF_ANY_BIT, NAMESPACE_FLAGS | CLONE_NEWTIME, FAIL_WITH_EPERM),
    ]),
    ...checkCall(CHECKED_CALLS.ioctl[architecture], [
      load(getArgumentOffset(1)),
      ...returnIf(JUMP_IF_EQUAL, TERMINAL_INPUT_REQUESTS.TIOCSTI, FAIL_WITH_EPERM),
      ...returnIf(JUMP_IF_EQUAL, TERMINAL_INPUT_REQUESTS.TIOCLINUX, FAIL_WITH_EPERM),
    ]),
    end(ALLOW),
  ];
  return encode(program);
}

/** Runs the checks if the loaded number is that of the call, and allows the call if none of them returns. */
function checkCall(number: number, checks: readonly Instruction[]): readonly Instruction[] {
  const body = [...checks, end(ALLOW)];
  return [{ code: JUMP_IF_EQUAL, skipIfFalse: body.length, operand: number }, ...body];
}

function load(offset: number): Instruction {
  return { code: LOAD_WORD, operand: offset };
}

function end(result: number): Instruction {
  return { code: RETURN, operand: result };
}

function returnIf(code: number, operand: number, result: number): readonly Instruction[] {
  return [{ code, skipIfFalse: 1, operand }, end(result)];
}

function returnUnless(code: number, operand: number, result: number): readonly Instruction[] {
  return [{ code, skipIfTrue: 1, operand }, end(result)];
}

/** Each instruction is a `struct sock_filter`; both architectures are little-endian. */
function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, { code, skipIfTrue = 0, skipIfFalse = 0, operand }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(skipIfTrue, index * 8 + 2);
    bytes.writeUInt8(skipIfFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand, index * 8 + 4);
  }
  return bytes;
}
