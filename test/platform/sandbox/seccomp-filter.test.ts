import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assembleSeccompFilter,
  CHECKED_CALLS,
  CLONE_NEWTIME,
  FILTER_ARCHITECTURES,
  type FilterArchitecture,
  NAMESPACE_FLAGS,
  REFUSED_CALLS,
  TERMINAL_INPUT_REQUESTS,
} from "../../../src/platform/sandbox/seccomp-filter.ts";
import { must } from "../../support/must.ts";

type Call = { readonly architecture: number; readonly number: number; readonly args?: readonly bigint[] };
type Verdict = "allow" | "kill" | "EPERM" | "ENOSYS";

/** Runs a classic BPF program on `struct seccomp_data`, as far as filters of system calls need it. */
function interpret(program: Buffer, { architecture, number, args = [] }: Call): Verdict {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [index, value] of args.entries())
    data.writeBigUInt64LE(BigInt.asUintN(64, value), 16 + index * 8);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const [code, operand] = [program.readUInt16LE(at * 8), program.readUInt32LE(at * 8 + 4)];
    const jump = (holds: boolean) => program.readUInt8(at * 8 + (holds ? 2 : 3));
    if (code === 0x20) accumulator = data.readUInt32LE(operand);
    else if (code === 0x15) at += jump(accumulator === operand);
    else if (code === 0x35) at += jump(accumulator >= operand);
    else if (code === 0x45) at += jump((accumulator & operand) !== 0);
    else if (code === 0x06) return getVerdict(operand);
    else throw new Error(`unknown code ${code}`);
  }
  throw new Error("the program has no end");
}

function getVerdict(result: number): Verdict {
  const verdicts: Record<number, Verdict> = {
    2147418112: "allow",
    2147483648: "kill",
    327681: "EPERM",
    327718: "ENOSYS",
  };
  return verdicts[result]!;
}

const NUMBERS = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;

describe.each(FILTER_ARCHITECTURES)("the filter of %s", (name: FilterArchitecture) => {
  const program = assembleSeccompFilter(name);
  const judge = (number: number, ...args: readonly (number | bigint)[]) =>
    interpret(program, { architecture: NUMBERS[name], number, args: args.map(BigInt) });
  const calls = Object.fromEntries(
    Object.entries(CHECKED_CALLS).map(([call, numbers]) => [call, numbers[name]]),
  ) as Record<keyof typeof CHECKED_CALLS, number>;

  test("is small enough for the kernel", () => {
    expect(program.length % 8).toBe(0);
    expect(program.length / 8).toBeLessThan(4096);
  });

  test("refuses each listed call", () => {
    for (const [call, numbers] of Object.entries(REFUSED_CALLS)) {
      const number = (numbers as Partial<Record<FilterArchitecture, number>>)[name];
      if (number !== undefined) expect([call, judge(number)]).toEqual([call, "EPERM"]);
    }
    expect(judge(calls.clone3)).toBe("ENOSYS");
  });

  test("ends a process that calls by the numbers of another architecture", () => {
    for (const architecture of [0x40000003, 0x40000028, 0, NUMBERS[name === "x64" ? "arm64" : "x64"]]) {
      expect(interpret(program, { architecture, number: 1 })).toBe("kill");
    }
  });

  test("judges sockets by their family", () => {
    const families = Array.from({ length: 64 }, (_, family) => family);
    expect(families.filter((family) => judge(calls.socket, family, 1, 0) === "allow")).toEqual([2, 10, 16]);
    expect(families.filter((family) => judge(calls.socket, family, 1, 0) === "EPERM")).toHaveLength(61);
    // The kernel takes the lower half of the argument alone.
    expect(judge(calls.socket, 0x1_0000_0001n, 1, 0)).toBe("EPERM");
    expect(judge(calls.socket, 16, 3, 12)).toBe("EPERM");
  });

  test("lets `clone` and `unshare` make no namespace", () => {
    for (let bit = 0; bit < 32; bit += 1) {
      const flag = 2 ** bit;
      const isNamespace = (NAMESPACE_FLAGS & flag) !== 0;
      expect([flag, judge(calls.clone, flag)]).toEqual([flag, isNamespace ? "EPERM" : "allow"]);
      const isRefused = isNamespace || flag === CLONE_NEWTIME;
      expect([flag, judge(calls.unshare, flag)]).toEqual([flag, isRefused ? "EPERM" : "allow"]);
    }
    // What `fork` and a new thread of the C library ask for.
    expect([judge(calls.clone, 0x01200011), judge(calls.clone, 0x003d0f00)]).toEqual(["allow", "allow"]);
    expect(judge(calls.unshare, 0xffff_ffff_1000_0000n)).toBe("EPERM");
  });

  test("lets a terminal's requests through, except those that put input into it", () => {
    expect(judge(calls.ioctl, 0, 0x5401)).toBe("allow");
    for (const request of Object.values(TERMINAL_INPUT_REQUESTS)) {
      expect(judge(calls.ioctl, 0, request)).toBe("EPERM");
      expect(judge(calls.ioctl, 0, BigInt(request) | (1n << 32n))).toBe("EPERM");
    }
  });

  test("allows every other call, whatever its arguments", () => {
    const listed = new Set<number | undefined>([
      ...Object.values(REFUSED_CALLS).map(
        (numbers) => (numbers as Partial<Record<FilterArchitecture, number>>)[name],
      ),
      ...Object.values(calls),
    ]);
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 600 }).filter((number) => !listed.has(number)),
        fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { maxLength: 6 }),
        (number, args) => must(judge(number, ...args) === "allow", `call ${number} is refused`),
      ),
      { numRuns: 2000 },
    );
  });
});

test("calls of the 32-bit form of x86-64 do not exist", () => {
  const judge = (number: number) =>
    interpret(assembleSeccompFilter("x64"), { architecture: NUMBERS.x64, number });
  expect([0x40000000, 0x40000029, 0x40000208, 0x7fffffff, 0xffffffff].map(judge)).toEqual(
    Array(5).fill("ENOSYS"),
  );
  expect(judge(0x3fffffff)).toBe("allow");
});

test("the numbers of a call that both architectures share are the same", () => {
  for (const numbers of Object.values(REFUSED_CALLS) as Partial<Record<FilterArchitecture, number>>[]) {
    if ((numbers.x64 ?? 0) >= 424) expect(numbers.arm64).toBe(numbers.x64);
  }
});
