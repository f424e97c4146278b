import { randomUUID } from "node:crypto";
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { HOST, NO_SANDBOX } from "../../../platform/sandbox/host.ts";
import { describeIf, NO_PROC, testIf } from "../../../support/skipping.ts";
import { eventually, listCommandLines } from "../../../tools/processes.ts";
import { createTemporaryFolder } from "../../../tools/tool-context.ts";
import { score } from "./cell.ts";

const linuxTest = testIf(process.platform === "linux", NO_PROC);

type Fields = { readonly command: string } & Readonly<Record<string, unknown>>;

function createRun(mode: "off" | "workspace") {
  return async (fields: Fields, cell: Parameters<typeof score>[1] = {}, signal?: AbortSignal) =>
    (
      await score([{ type: "command", ...fields }], cell, { sandbox: { mode }, ...(signal && { signal }) })
    )[0];
}

/** Runs a command that leaves a process in another group, and ends once that process was seen. */
async function expectNoneLeft(run: ReturnType<typeof createRun>): Promise<void> {
  const workspace = await createTemporaryFolder();
  const mark = `LEFT_BY=${randomUUID()}`;
  const command = `(${mark} setsid sleep 600 >/dev/null 2>&1 &); until [ -e seen ]; do sleep 0.01; done`;
  const scored = run({ command }, { workspace });
  await eventually(
    () => listCommandLines(mark),
    (found) => found.some((line) => line.startsWith("sleep")),
  );
  await writeFile(join(workspace, "seen"), "");
  expect(await scored).toMatchObject({ value: 1 });
  expect(listCommandLines(mark)).toEqual([]);
}

const TEMPLATES = {
  "code.py": "{{code}}",
  "nested/all.txt": "{{answer}}|{{ expected }}|{{metadata.level}}|{{metadata.tags}}|{{other}}",
};
const ANSWER = "Here:\n```python\nprint('{{expected}}')\n```\nDone.";

describeIf(HOST.able, NO_SANDBOX)("a command in the sandbox", () => {
  const run = createRun("workspace");

  test("succeeds by its exit code, and reports the end of its output", async () => {
    expect(await run({ command: "echo fine; echo odd >&2; exit 0" })).toEqual({
      class: "scored",
      value: 1,
      passed: true,
      explanation: "Exit code 0.\nfine\nodd",
    });
    expect(await run({ command: "exit 3" })).toMatchObject({ value: 0, passed: false });
    expect(await run({ command: "exit 3", exitCode: 3 })).toMatchObject({ value: 1 });
    const long = await run({ command: "seq 1 100000; exit 1" });
    expect(long?.explanation).toMatch(/^Exit code 1\.\n…[\d\n]+\n100000$/);
  });

  test("works in the workspace of the cell, and writes nothing outside it", async () => {
    const [workspace, outside] = [await createTemporaryFolder(), await createTemporaryFolder()];
    await writeFile(join(workspace, "a"), "1");
    expect(await run({ command: "cat a && echo 2 > b" }, { workspace })).toMatchObject({ value: 1 });
    expect(await readFile(join(workspace, "b"), "utf8")).toBe("2\n");
    expect(await run({ command: `echo 1 > ${outside}/a` }, { workspace })).toMatchObject({ value: 0 });
    expect(await readdir(outside)).toEqual([]);
  });

  test("reads files that are written first, in a workspace that is deleted afterwards", async () => {
    const workspaces = await createTemporaryFolder();
    const subject = { answer: ANSWER, expected: "x", metadata: { level: 3, tags: ["a"] } };
    expect(
      await run(
        { command: "cat code.py; echo; cat nested/all.txt", files: TEMPLATES },
        { subject, workspaces },
      ),
    ).toMatchObject({
      value: 1,
      explanation: `Exit code 0.\nprint('{{expected}}')\n${ANSWER}|x|3|["a"]|{{other}}`,
    });
    expect(await readdir(workspaces)).toEqual([]);
  });

  test("ends at its time limit", async () => {
    expect(await run({ command: "echo begun; sleep 60", timeoutMs: 500 })).toMatchObject({
      class: "scored",
      value: 0,
      explanation: "Ended after 0.5 s.\nbegun",
    });
  });

  test("ends when it uses more memory than it may", async () => {
    const command = `node -e 'const all = []; setInterval(() => all.push(Buffer.alloc(8 << 20, 1)), 10)'`;
    const scored = await run({ command, memoryMb: 128, timeoutMs: 20_000 });
    expect(scored).toMatchObject({ class: "scored", value: 0, passed: false });
    expect(scored?.explanation).toContain("used more than 134217728 bytes of memory");
  }, 30_000);

  test("leaves no process", async () => {
    await expectNoneLeft(run);
  });
});

describe("a command of a worker without a sandbox", () => {
  const run = createRun("off");

  test("runs with the rights of the worker, as a shell tool does", async () => {
    const outside = await createTemporaryFolder();
    expect(await run({ command: `echo 1 > ${outside}/a` })).toMatchObject({ value: 1 });
    expect(await readdir(outside)).toEqual(["a"]);
  });

  linuxTest("is limited in its memory", async () => {
    const command = "head -c 300M /dev/zero | tail > /dev/null";
    expect(await run({ command: `set -o pipefail; ${command}` })).toMatchObject({ value: 1 });
    expect(await run({ command: `set -o pipefail; ${command}`, memoryMb: 64 })).toMatchObject({ value: 0 });
  });

  linuxTest("leaves no process that has left its group", async () => {
    await expectNoneLeft(run);
  });

  test("is ended by a cancellation, which is no score", async () => {
    const stopping = new AbortController();
    const scored = run({ command: "sleep 60" }, {}, stopping.signal);
    setTimeout(() => stopping.abort(), 300);
    await expect(scored).rejects.toThrow("CANCELLED");
  });

  test("cannot be scored without a value that a file needs", async () => {
    expect(await run({ command: "true", files: { a: "{{expected}}" } })).toEqual({
      class: "unscorable",
      value: null,
      explanation: "The case has no value for {{expected}}.",
    });
    expect(await run({ command: "true", files: { a: "{{metadata.constructor}}" } })).toMatchObject({
      class: "unscorable",
    });
  });

  test("cannot be scored if the workspace of the cell is gone", async () => {
    expect(await run({ command: "true" }, { isWorkspaceMissing: true })).toEqual({
      class: "unscorable",
      value: null,
      explanation: expect.stringMatching(/not on this host, or was deleted/),
    });
  });

  test("writes no file outside the workspace", async () => {
    const [workspace, outside] = [await createTemporaryFolder(), await createTemporaryFolder()];
    await symlink(outside, join(workspace, "link"));
    for (const path of ["../a", "link/a", join(outside, "a")]) {
      expect(await run({ command: "true", files: { [path]: "x" } }, { workspace })).toMatchObject({
        class: "failed",
      });
    }
    expect(await readdir(outside)).toEqual([]);
  });

  test("runs after the scorers that read the workspace", async () => {
    const workspace = await createTemporaryFolder();
    const scores = await score(
      [
        { type: "command", command: "echo 1 > a" },
        { type: "files", files: { a: { exists: false } } },
        { type: "command", name: "second", command: "test -e a" },
      ],
      { workspace },
    );
    expect(scores.map(({ value }) => value)).toEqual([1, 1, 1]);
  });
});
