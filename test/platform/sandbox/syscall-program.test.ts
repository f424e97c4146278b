import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FILTER_ARCHITECTURES } from "../../../src/platform/sandbox/seccomp-filter.ts";
import { buildSelfTestPrograms } from "../../../src/platform/sandbox/self-test-programs.ts";
import {
  assembleSyscallProgram,
  MAX_CALLS,
  type SystemCall,
} from "../../../src/platform/sandbox/syscall-program.ts";
import { testIf } from "../../support/skipping.ts";
import { createTemporaryFolder } from "../../tools/tool-context.ts";

const WRITE = { x64: 1, arm64: 64 };
const SOCKET = { x64: 41, arm64: 198 };
const CONNECT = { x64: 42, arm64: 203 };
const CLOSE = { x64: 3, arm64: 57 };

const HEADER_BYTES = 120;

const code = (architecture: "x64" | "arm64", ...calls: readonly SystemCall[]) =>
  assembleSyscallProgram(architecture, calls).subarray(HEADER_BYTES).toString("hex");

// What each instruction is was read with the disassembler Capstone 5.0.7, from the same bytes.

test("the code of x64", () => {
  const calls = [
    { numbers: SOCKET, args: [2, -1n] },
    {
      numbers: CONNECT,
      args: [{ resultOf: 0 }, { bytes: Buffer.from("hi") }, { belowStack: 16 }, { belowStack: 2048 }],
    },
  ] satisfies SystemCall[];
  const exitIfFailed = [
    "4885c0", // test rax, rax
    "790d", // jns over the next four
    "4889c7", // mov rdi, rax
    "48f7df", // neg rdi
    "b83c000000", // mov eax, 60
    "0f05", // syscall
  ];
  expect(code("x64", ...calls)).toBe(
    [
      "48bf0200000000000000", // movabs rdi, 2
      "48beffffffffffffffff", // movabs rsi, -1
      "b829000000", // mov eax, 41
      "0f05", // syscall
      ...exitIfFailed,
      "4889c3", // mov rbx, rax
      "4889df", // mov rdi, rbx
      "48beef00400000000000", // movabs rsi, 0x4000ef
      "488d9424f0ffffff", // lea rdx, [rsp - 16]
      "4c8d942400f8ffff", // lea r10, [rsp - 2048]
      "b82a000000", // mov eax, 42
      "0f05", // syscall
      ...exitIfFailed,
      "48bf0000000000000000", // movabs rdi, 0
      "b83c000000", // mov eax, 60
      "0f05", // syscall
      "6869", // the data
    ].join(""),
  );
});

test("the code of arm64", () => {
  const calls = [
    { numbers: SOCKET, args: [2, 0xffff_0001n], mayFail: true },
    { numbers: CONNECT, args: [{ resultOf: 0 }, { bytes: Buffer.from("hi") }, { belowStack: 2048 }] },
  ] satisfies SystemCall[];
  const words = [
    ...["d2800040", "f2a00000", "f2c00000", "f2e00000"], // mov x0, 2; movk x0, 0, lsl 16, 32 and 48
    ...["d2800021", "f2bfffe1", "f2c00001", "f2e00001"], // mov x1, 1; movk x1, 0xffff, lsl 16; …
    "d28018c8", // mov x8, 198
    "d4000001", // svc 0
    "aa0003f3", // mov x19, x0
    "aa1303e0", // mov x0, x19
    ...["d2801bc1", "f2a00801", "f2c00001", "f2e00001"], // mov x1, 0xde; movk x1, 0x40, lsl 16; …
    "d12003e2", // sub x2, sp, 2048
    "d2801968", // mov x8, 203
    "d4000001", // svc 0
    "b6f80080", // tbz x0, 63, over the next three
    "cb0003e0", // neg x0, x0
    "d2800ba8", // mov x8, 93
    "d4000001", // svc 0
    ...["d2800000", "f2a00000", "f2c00000", "f2e00000"], // mov x0, 0
    "d2800ba8", // mov x8, 93
    "d4000001", // svc 0
  ];
  const swap = (word: string) => Buffer.from(word, "hex").reverse().toString("hex");
  const actual = code("arm64", ...calls);
  expect(actual.match(/.{8}/g)?.slice(0, words.length).map(swap)).toEqual(
    words.map((word) => (word === "d2801bc1" ? getAddressWord(words.length) : word)),
  );
  expect(actual.slice(words.length * 8)).toBe("6869");
});

/** `mov x1, #…` with the lower half of the address of the data, which follows so many instructions. */
function getAddressWord(instructions: number): string {
  return (0xd280_0001 + ((HEADER_BYTES + instructions * 4) << 5)).toString(16);
}

describe.each(FILTER_ARCHITECTURES)("a program of %s", (architecture) => {
  test("is a file that the system runs: one segment, which cannot be written", () => {
    const program = assembleSyscallProgram(architecture, []);
    expect(program.subarray(0, 20).toString("hex")).toBe(
      `7f454c46020101000000000000000000${architecture === "x64" ? "02003e00" : "0200b700"}`,
    );
    expect([program.readUInt16LE(56), program.readUInt32LE(64), program.readUInt32LE(68)]).toEqual([1, 1, 5]);
    expect(program.readBigUInt64LE(24)).toBe(program.readBigUInt64LE(80) + BigInt(HEADER_BYTES));
    expect(program.readBigUInt64LE(96)).toBe(BigInt(program.length));
  });

  test("is refused if it cannot be written down", () => {
    const results = Array.from({ length: 7 }, (_, index) => ({
      numbers: CLOSE,
      args: [{ resultOf: index - 1 }],
    }));
    for (const calls of [
      Array<SystemCall>(MAX_CALLS + 1).fill({ numbers: CLOSE, args: [] }),
      [{ numbers: CLOSE, args: [1, 2, 3, 4, 5, 6, 7] }],
      [{ numbers: CLOSE, args: [{ resultOf: 0 }] }],
      [
        { numbers: CLOSE, args: [] },
        ...results.slice(1),
        { numbers: CLOSE, args: [{ resultOf: 0 }] },
        ...results,
      ],
    ] satisfies SystemCall[][]) {
      expect(() => assembleSyscallProgram(architecture, calls)).toThrow(RangeError);
    }
  });

  test("of each act of the self-test can be assembled", () => {
    const programs = buildSelfTestPrograms({ architecture, port: 65_535, home: "/home/user" });
    for (const [name, bytes] of Object.entries(programs)) {
      expect([name, bytes.length < 1024]).toEqual([name, true]);
    }
  });
});

const architecture = FILTER_ARCHITECTURES.find((known) => known === process.arch);
const canRun = process.platform === "linux" && architecture !== undefined;

describe("on this machine, a program", () => {
  const runTest = testIf(canRun, "only Linux on x64 and arm64 runs the programs");

  const run = async (...calls: readonly SystemCall[]) => {
    const file = join(await createTemporaryFolder(), "program");
    await writeFile(file, assembleSyscallProgram(architecture ?? "x64", calls), { mode: 0o755 });
    const { status, stdout } = spawnSync(file, { encoding: "utf8" });
    return [status, stdout];
  };
  const say = (text: string) => ({ numbers: WRITE, args: [1, { bytes: Buffer.from(text) }, text.length] });

  runTest("makes its calls in their order, and ends with 0", async () => {
    expect(await run()).toEqual([0, ""]);
    expect(await run(say("one "), say("two"))).toEqual([0, "one two"]);
  });

  runTest("ends with the number of the first error", async () => {
    const fail = { numbers: CLOSE, args: [-1] };
    expect(await run(say("before"), fail, say("after"))).toEqual([9, "before"]);
    expect(await run({ ...fail, mayFail: true }, say("after"))).toEqual([0, "after"]);
  });

  runTest("uses results of earlier calls, and memory below the stack", async () => {
    const socket = { numbers: SOCKET, args: [2, 1, 0] };
    expect(await run(socket, { numbers: CLOSE, args: [{ resultOf: 0 }] })).toEqual([0, ""]);
    expect(
      await run(say("12345"), {
        numbers: WRITE,
        args: [1, { bytes: Buffer.from("abcdefg") }, { resultOf: 0 }],
      }),
    ).toEqual([0, "12345abcde"]);
    expect(await run({ numbers: WRITE, args: [1, { belowStack: 2048 }, 8] })).toEqual([0, "\0".repeat(8)]);
  });
});
