import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { describeLogProblem, LogFile, type LogProblem } from "../../src/apps/cli/log-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-log-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("a log on a full disk drops text and reports it once; when there is room again it states how much and continues", async () => {
  const file = join(folder, "worker.log");
  const troubles: LogProblem[] = [];
  let nowMs = 0;
  const log = new LogFile(
    file,
    (trouble) => troubles.push(trouble),
    () => nowMs,
  );
  log.write(Buffer.from("before\n"));
  log.close();
  await rm(file);
  // Every write to this device fails as on a full disk.
  await symlink("/dev/full", file);
  log.write(Buffer.from("lost\n"));
  nowMs += 10;
  log.write(Buffer.from("lost too\n"));
  nowMs += 5_000;
  log.write(Buffer.from("and this\n"));
  expect(troubles).toHaveLength(1);
  expect(describeLogProblem(troubles[0]!)).toMatch(/worker\.log cannot be written \(ENOSPC/);

  await rm(file);
  nowMs += 5_000;
  log.write(Buffer.from("after\n"));
  log.write(Buffer.from("and on\n"));
  log.close();
  expect(await readFile(file, "utf8")).toBe("\n[23 bytes of this log could not be written]\nafter\nand on\n");
  expect(troubles[1]).toEqual({ type: "log-restored", file, lostBytes: 23 });
  expect(troubles).toHaveLength(2);
});

test("a log in a missing folder is reported and ends nothing", async () => {
  const troubles: LogProblem[] = [];
  const log = new LogFile(join(folder, "nowhere", "worker.log"), (trouble) => troubles.push(trouble));
  log.write(Buffer.from("lost\n"));
  expect(troubles.map(({ type }) => type)).toEqual(["log-failed"]);
});
