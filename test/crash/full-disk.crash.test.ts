import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
import { openCampaignEnvironment, VARIED_SCENARIOS } from "./support/campaign.ts";

const { play, stage } = openCampaignEnvironment();

const FULL_MS = 4000;
const CHUNK = Buffer.alloc(4096);

/** A file system of eight megabytes; undefined if this process may not mount one. */
function smallDisk(folder: string): { fill(): void; free(): void; end(): void } | undefined {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], { stdio: "pipe" });
  } catch {
    return undefined;
  }
  const filler = join(folder, "filler");
  return {
    fill: () => {
      const file = openSync(filler, "a");
      try {
        for (;;) writeSync(file, CHUNK);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler),
    end: () => void execFileSync("umount", ["--lazy", folder]),
  };
}

/** No file of a worker may grow: an approximation of a full disk without a mount. */
function limitFiles(pid: number, home: string): () => void {
  const { size } = statSync(join(home, "transcript.db-wal"));
  const limit = (bytes: string) => execFileSync("prlimit", ["--pid", `${pid}`, `--fsize=${bytes}`]);
  limit(`${size}:unlimited`);
  return () => limit("unlimited:unlimited");
}

thoroughTest(
  "the disk of the store fills up while agents work, and is freed again: they wait, and continue without a loss, although the worker is killed",
  async () => {
    const home = join(stage().folder, "small");
    const disk = smallDisk(home);
    if (disk === undefined)
      process.stderr.write(
        "!!! NO MOUNT: a limit on the size of the worker's files stands for the full disk.\n",
      );
    let log = "";
    try {
      const { violations, kills } = await play({
        name: "full",
        home,
        workers: [],
        scenarios: [...VARIED_SCENARIOS],
        during: async ({ keep }) => {
          const worker = await keep(["store:after:40"]);
          ({ log } = worker);
          await sleep(1500);
          disk?.fill();
          const free = disk?.free ?? limitFiles(worker.keeper.pid, home);
          await sleep(FULL_MS);
          free();
        },
      });
      expect(violations).toEqual([]);
      expect(kills).toHaveLength(1);
      expect(readFileSync(log, "utf8")).toMatch(/"fault":"full"/);
    } finally {
      disk?.end();
    }
  },
  120_000,
);
