import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Context } from "../../src/apps/cli/context.ts";
import { checkFreeSpace, checkLive } from "../../src/apps/cli/doctor-checks.ts";
import { main } from "../../src/apps/cli/program.ts";
import { prepareHome } from "../../src/apps/cli/start-checks.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-start-checks-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function terminal() {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const streams = {
    stdin: new PassThrough(),
    stdout,
    stderr,
    env: {},
    signals: { on: () => undefined, off: () => undefined },
  };
  return { streams, said: () => String(stderr.read() ?? "") };
}

/** No folder can be created here, not even by root, and no byte is free: this imitates a read-only and full disk. */
const NO_DISK = "/proc";

test("a home that cannot be created stops every start with advice, before anything is started", async () => {
  const home = join(NO_DISK, "holdfast");
  for (const command of [["dev"], ["worker", "--address", "127.0.0.1:1"]]) {
    const { streams, said } = terminal();
    expect(await main(["--home", home, "--database", "", ...command], streams)).toBe(2);
    expect(said()).toMatch(/Nothing was started.*home: .*cannot be created.*--home or HOLDFAST_HOME/s);
  }
});

test("a home that is a file stops a start with advice", async () => {
  const home = join(folder, "file");
  await writeFile(home, "");
  const { streams } = terminal();
  await expect(prepareHome(new Context(streams, { home, database: "" }))).rejects.toThrow(
    /Nothing was started.*make it a folder/s,
  );
});

test("live output below an unwritable location is a warning", async () => {
  await writeFile(join(folder, "file"), "");
  expect(await checkLive(join(folder, "file", "home"), "")).toMatchObject({
    verdict: "warn",
    advice: expect.stringContaining("live"),
  });
  expect(await checkLive(join(folder, "later"), "")).toMatchObject({ verdict: "ok" });
});

test("a full disk is a failure, with advice", async () => {
  expect(await checkFreeSpace(join(NO_DISK, "holdfast"))).toEqual({
    name: "room",
    verdict: "fail",
    details: "0 MB are free at /proc: the disk is full",
    advice: "free some space, then start again",
  });
});
