import { execFileSync, spawn } from "node:child_process";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { getHostId } from "../../src/platform/process/host-id.ts";
import { readStartTime } from "../../src/platform/process/process-group.ts";
import { parseStat, readProcess } from "../../src/platform/process/process-table.ts";
import { eventually } from "./processes.ts";
import { createTemporaryFolder } from "./tool-context.ts";

test("a program's name may contain spaces and parentheses", async () => {
  const program = join(await createTemporaryFolder(), "a) R 1 (b");
  await copyFile("/bin/sleep", program);
  const child = spawn(program, ["1000"], { detached: true });
  const entry = await eventually(
    () => readProcess(child.pid!),
    (seen) => seen !== undefined,
  );
  child.kill("SIGKILL");
  expect(entry).toMatchObject({ pid: child.pid, pgid: child.pid, session: child.pid });
  expect(entry?.startTime).toMatch(/^\d{2,}$/);
});

test("the start time is field 22", () => {
  const fields = Array.from({ length: 52 }, (_, index) => String(index + 1));
  expect(parseStat(["77", "(x)", "S", ...fields.slice(3)].join(" "))).toEqual({
    pid: 77,
    state: "S",
    pgid: 5,
    session: 6,
    startTime: "22",
  });
});

test("a missing process has no start time", () => {
  expect(readStartTime(2 ** 22 + 1)).toBe("");
});

test("the host's id is the same for every process on it", () => {
  expect(getHostId()).toMatch(/^[0-9a-f-]{36}\/pid:\[\d+\]$/);
  const script = "console.log(require('fs').readlinkSync('/proc/self/ns/pid'))";
  expect(
    getHostId().endsWith(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" }).trim()),
  ).toBe(true);
});
