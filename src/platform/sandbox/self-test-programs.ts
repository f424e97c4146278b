import { CHECKED_CALLS, type FilterArchitecture, REFUSED_CALLS } from "./seccomp-filter.ts";
import { assembleSyscallProgram, type CallArgument, type SystemCall } from "./syscall-program.ts";

/** Programs of the self-test. Each writes `TRIED` before the call that it is about. */
export type SelfTestProgram =
  /** Ends at once. */
  | "nothing"
  /** Writes `READY`, and waits. */
  | "wait"
  | "unix-socket"
  | "connect-loopback"
  | "connect-outside"
  | "ptrace"
  | "mount"
  | "io-uring"
  | "fork-bomb"
  | "fill-tmp"
  | "fill-shm"
  | "fill-home";

export const TRIED = "tried\n";
export const READY = "ready\n";

/** Two to this power is the number of processes of the fork bomb: harmless even where nothing bounds it. */
const BOMB_DOUBLINGS = 7;

/** Longer than the self-test waits for anything. Whatever remains ends by itself. */
const WAIT_SECONDS = 5;

/** What is written to each temporary file system. */
export const FILL_BYTES = 4 * 1024 * 1024;

/** Numbers of asm/unistd_64.h and asm-generic/unistd.h. */
const CALLS = {
  write: { x64: 1, arm64: 64 },
  openat: { x64: 257, arm64: 56 },
  fallocate: { x64: 285, arm64: 47 },
  nanosleep: { x64: 35, arm64: 101 },
  getppid: { x64: 110, arm64: 173 },
  connect: { x64: 42, arm64: 203 },
  socket: CHECKED_CALLS.socket,
  clone: CHECKED_CALLS.clone,
  ptrace: REFUSED_CALLS.ptrace,
  mount: REFUSED_CALLS.mount,
  io_uring_setup: REFUSED_CALLS.io_uring_setup,
} satisfies Record<string, Record<FilterArchitecture, number>>;

const AF_UNIX = 1;
const AF_INET = 2;
const SOCK_STREAM = 1;
const SOCK_NONBLOCK = 0o4000;
const SIGCHLD = 17;
const AT_FDCWD = -100;
const O_WRONLY_CREAT = 0o101;

/** Unlike PTRACE_ATTACH it does not stop the other process. */
const PTRACE_SEIZE = 0x4206;

/** Of TEST-NET-1 (RFC 5737): a route leads there where one leads anywhere, and nobody answers. */
const OUTSIDE_ADDRESS = [192, 0, 2, 1] as const;
const OUTSIDE_PORT = 443;

export type ProgramTarget = {
  readonly architecture: FilterArchitecture;
  /** Of a listener on the host's loopback address. */
  readonly port: number;
  readonly home: string;
};

export function buildSelfTestPrograms({
  architecture,
  port,
  home,
}: ProgramTarget): Readonly<Record<SelfTestProgram, Buffer>> {
  const assemble = (...calls: readonly SystemCall[]) => assembleSyscallProgram(architecture, calls);
  const wait = call("nanosleep", numbers64(WAIT_SECONDS, 0), 0);
  const fill = (folder: string) =>
    assemble(
      say(TRIED),
      call("openat", AT_FDCWD, path(`${folder}/holdfast-self-test`), O_WRONLY_CREAT, 0o600),
      call("fallocate", { resultOf: 1 }, 0, 0, FILL_BYTES),
    );
  return {
    nothing: assemble(),
    wait: assemble(say(READY), wait),
    "unix-socket": assemble(say(TRIED), call("socket", AF_UNIX, SOCK_STREAM, 0)),
    "connect-loopback": assemble(...connect(SOCK_STREAM, [127, 0, 0, 1], port)),
    // Without a route it fails at once; with one, it is in progress.
    "connect-outside": assemble(...connect(SOCK_STREAM | SOCK_NONBLOCK, OUTSIDE_ADDRESS, OUTSIDE_PORT)),
    ptrace: assemble(say(TRIED), call("getppid"), call("ptrace", PTRACE_SEIZE, { resultOf: 1 }, 0, 0)),
    mount: assemble(say(TRIED), call("mount", path("none"), path("."), path("tmpfs"), 0, 0)),
    "io-uring": assemble(say(TRIED), call("io_uring_setup", 8, { belowStack: 2048 })),
    "fork-bomb": assemble(
      say(TRIED),
      ...Array.from({ length: BOMB_DOUBLINGS }, () => ({
        ...call("clone", SIGCHLD, 0, 0, 0, 0),
        mayFail: true,
      })),
      wait,
    ),
    "fill-tmp": fill("/tmp"),
    "fill-shm": fill("/dev/shm"),
    "fill-home": fill(home),
  };
}

function call(name: keyof typeof CALLS, ...args: readonly CallArgument[]): SystemCall {
  return { numbers: CALLS[name], args };
}

function say(text: string): SystemCall {
  return call("write", 1, { bytes: Buffer.from(text) }, text.length);
}

function connect(
  type: number,
  [a, b, c, d]: readonly [number, number, number, number],
  port: number,
): SystemCall[] {
  // struct sockaddr_in; the port is big-endian.
  const address = Buffer.from([AF_INET, 0, port >> 8, port & 0xff, a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0]);
  return [
    say(TRIED),
    call("socket", AF_INET, type, 0),
    call("connect", { resultOf: 1 }, { bytes: address }, address.length),
  ];
}

function path(text: string): CallArgument {
  return { bytes: Buffer.from(`${text}\0`) };
}

/** Numbers of 64 bits, such as those of `struct timespec`. */
function numbers64(...numbers: readonly number[]): CallArgument {
  return { bytes: Buffer.from(BigInt64Array.from(numbers.map(BigInt)).buffer) };
}
