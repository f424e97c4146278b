import { existsSync, renameSync, symlinkSync, unlinkSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import type { ExecutableTool } from "../../src/tools/tool.ts";
import type { ToolOutput } from "../../src/tools/tool-execution.ts";
import { isThorough } from "../support/test-depth.ts";
import { callTool, createContext, createTemporaryFolder } from "./tool-context.ts";

// An adversary that acts between any two steps of a tool: before one file system call it replaces the folder with a
// link to the outside, and before a later one it restores the folder. All pairs of steps are tried.

const adversary = vi.hoisted(() => ({ step: () => {} }));

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  const watched = [
    "open",
    "lstat",
    "stat",
    "mkdir",
    "readlink",
    "realpath",
    "rename",
    "readdir",
    "unlink",
    "access",
  ];
  const watch = (name: string, work: (...given: unknown[]) => unknown) =>
    watched.includes(name)
      ? (...given: unknown[]) => {
          adversary.step();
          return work(...given);
        }
      : work;
  return Object.fromEntries(Object.entries(real).map(([name, value]) => [name, watch(name, value as never)]));
});

vi.mock("node:child_process", async (original) => {
  const real = await original<typeof import("node:child_process")>();
  const spawn = (...given: unknown[]) => {
    adversary.step();
    return (real.spawn as (...given: unknown[]) => unknown)(...given);
  };
  return { ...real, spawn };
});

// Other test files of this process import the tools with the real file system, before and after this one.
vi.resetModules();
const { createDefaultTools: defaultTools } = await import("../../src/tools/builtin/default-tools.ts");
afterAll(() => vi.resetModules());

const [, read, write, edit, list, search] = defaultTools() as [
  ExecutableTool,
  ExecutableTool,
  ExecutableTool,
  ExecutableTool,
  ExecutableTool,
  ExecutableTool,
];

type Attempt = { outcome: ToolOutput | Error; steps: number };

async function attempt(
  tool: ExecutableTool,
  parameters: object,
  away: number,
  back: number,
): Promise<Attempt> {
  const base = await createTemporaryFolder();
  const [workspace, outside] = [join(base, "workspace"), join(base, "outside")];
  await mkdir(join(workspace, "d"), { recursive: true });
  await mkdir(join(outside, "sub"), { recursive: true });
  await writeFile(join(outside, "file.txt"), "SECRET\n");
  await writeFile(join(outside, "SECRET.txt"), "");
  await writeFile(join(workspace, "d/file.txt"), "public\n");

  const folder = join(workspace, "d");
  let steps = 0;
  adversary.step = () => {
    if (steps === away) {
      renameSync(folder, join(base, "aside"));
      symlinkSync(outside, folder);
    }
    if (steps === back && existsSync(join(base, "aside"))) {
      unlinkSync(folder);
      renameSync(join(base, "aside"), folder);
    }
    steps += 1;
  };
  const outcome = await callTool(tool, parameters, createContext(workspace)).catch((error: Error) => error);
  adversary.step = () => {};

  expect((await readdir(outside, { recursive: true })).toSorted()).toEqual(["SECRET.txt", "file.txt", "sub"]);
  expect(await readFile(join(outside, "file.txt"), "utf8")).toBe("SECRET\n");
  expect(JSON.stringify(outcome instanceof Error ? outcome.message : outcome)).not.toContain("SECRET");
  await rm(base, { recursive: true });
  return { outcome, steps };
}

const TOOLS = [
  ["read_file", read, { path: "d/file.txt" }],
  ["write_file", write, { path: "d/file.txt", content: "changed" }],
  ["write_file of a new file", write, { path: "d/new.txt", content: "changed" }],
  ["write_file in new folders", write, { path: "d/fresh/er/new.txt", content: "changed" }],
  ["write_file in a folder that is also outside", write, { path: "d/sub/new.txt", content: "changed" }],
  ["edit_file", edit, { path: "d/file.txt", old_text: "I", new_text: "changed" }],
  ["edit_file of both", edit, { path: "d/file.txt", old_text: "\n", new_text: "changed\n" }],
  ["list_files", list, { path: "d" }],
  ["search", search, { path: "d", pattern: "E" }],
  ["search in a file", search, { path: "d/file.txt", pattern: "E" }],
] as const;

// `npm test` tries every third tool.
test.each(isThorough ? TOOLS : TOOLS.filter((_, nth) => nth % 3 === 0))(
  "%s reaches nothing outside, whenever the folder is swapped",
  { timeout: 60_000 },
  async (_, tool, parameters) => {
    const { steps } = await attempt(tool, parameters, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    expect(steps).toBeGreaterThan(3);
    let refused = 0;
    // A swap changes the number of steps, so continue a little beyond an undisturbed call.
    for (let away = 0; away < steps; away += 1) {
      for (let back = away + 1; back <= steps + 2; back += 1) {
        const { outcome } = await attempt(tool, parameters, away, back);
        if (outcome instanceof Error && outcome.message.includes("is outside the workspace")) refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(0);
  },
);
