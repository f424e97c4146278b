import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { planCommit } from "../../../src/apps/git/commit/plan-commit.ts";
import type { CommitRequest } from "../../../src/apps/git/commit/write-commit.ts";
import { withRepository } from "../../../src/apps/git/repository/repository.ts";
import { thoroughTest } from "../../support/test-depth.ts";
import { TrapPlace } from "./traps/trap.ts";

const ME = { name: "Me", email: "me@example.com", time: 1_700_000_000, zone: "+0100" };
const STEPS = ["write-commit", "read-branch", "compare-index", "move-branch", "end"];
const KILLS = 30;

const built = mkdtempSync(join(tmpdir(), "holdfast-commit-process-"));
const PROCESS = join(built, "commit-process.mjs");
beforeAll(async () => {
  const source = join(import.meta.dirname, "commit-process.ts");
  await build({ entryPoints: [source], outfile: PROCESS, bundle: true, platform: "node", format: "esm" });
});
afterAll(() => rmSync(built, { recursive: true }));

let place: TrapPlace;
beforeEach(() => {
  place = new TrapPlace();
});
afterEach(() => place.remove());

async function request({ top }: TrapPlace): Promise<CommitRequest> {
  const planned = await withRepository(top, {}, planCommit);
  if (planned.type !== "planned") throw new Error(planned.message);
  return { plan: planned.plan, message: "Add a file\n", author: ME, committer: ME };
}

function start({ top }: TrapPlace, of: CommitRequest, ...step: readonly string[]) {
  const args = [PROCESS, top, JSON.stringify(of), ...step];
  const child = spawn(process.execPath, args, { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, output }));
  return { child, ended };
}

async function run(at: TrapPlace, of: CommitRequest) {
  const { output } = await start(at, of).ended;
  return JSON.parse(output.slice("ready\n".length));
}

/** Makes the commit in a copy of the repository, without a kill. */
async function commitUndisturbed(): Promise<string> {
  const other = new TrapPlace();
  const { commit } = await run(other, await request(other));
  other.remove();
  return commit;
}

function expectOneCommit(commit: string): void {
  expect(place.git(["rev-parse", "main"])).toBe(commit);
  expect(place.git(["rev-list", "--count", "--all"])).toBe("3");
  expect(place.git(["reflog", "--format=%gs", "main"]).match(/Add a file/g)).toHaveLength(1);
  expect(place.git(["fsck", "--strict", "--no-dangling"])).toBe("");
}

test("killed before any step of a commit: a retry makes the same commit, once", async () => {
  const commit = await commitUndisturbed();
  const of = await request(place);
  const endings = [];
  for (const step of STEPS) {
    const { signal } = await start(place, of, step).ended;
    endings.push(signal);
  }
  // The last kill came after the branch had moved; those before it left nothing to be seen.
  expect(endings).toEqual(STEPS.map(() => "SIGKILL"));
  expect(await run(place, of)).toEqual({ type: "committed", commit, wasThere: true });
  expectOneCommit(commit);
});

thoroughTest.each(STEPS)("killed before %s alone: a retry makes the same commit, once", async (step) => {
  const commit = await commitUndisturbed();
  const of = await request(place);
  expect(await start(place, of, step).ended).toMatchObject({ signal: "SIGKILL" });
  expect(await run(place, of)).toEqual({ type: "committed", commit, wasThere: step === "end" });
  expectOneCommit(commit);
});

thoroughTest("killed at any moment, with its git: retries make the same commit, once", async () => {
  const commit = await commitUndisturbed();
  const of = await request(place);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const { child, ended } = start(place, of);
    await once(child.stdout, "data");
    await new Promise((resolve) => setTimeout(resolve, kill * 8));
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // It has ended.
    }
    await ended;
    // Git leaves its lock behind when it is killed; the message says which file to remove.
    const result = await run(place, of);
    if (result.reason === "locked") rmSync(/remove (.*?), and/.exec(result.message)?.[1] ?? "");
    else expect(result).toMatchObject({ type: "committed", commit });
    if (kill + 1 < KILLS) place.git(["update-ref", "refs/heads/main", of.plan.head ?? ""]);
  }
  expect(await run(place, of)).toMatchObject({ type: "committed", commit });
  expect(place.git(["rev-list", "--count", "--all"])).toBe("3");
});
