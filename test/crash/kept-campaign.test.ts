import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
// @ts-expect-error: the campaign is plain JavaScript, as its programs are
import { playWaves as plainPlayWaves } from "./campaign/campaign.mjs";
// @ts-expect-error: see above
import { computeDetails, computeFigures, computeProgress } from "./campaign/figures.mjs";
// @ts-expect-error: see above
import { readKeptWaves, writeKeptWaves } from "./campaign/kept-waves.mjs";
// @ts-expect-error: see above
import { planWaves } from "./campaign/plan.mjs";

// The figures of a crash campaign that is played in several sittings.

type Wave = { name: string; workers: string[][] };
type Summary = { name: string; kills: { point: string; hit: number }[] };
type Sitting = { waves: number; file: string; enough?: number };

const SCRIPT = fileURLToPath(new URL("../../scripts/crash.mjs", import.meta.url));
const PLAN = { seed: 3, runs: 6 };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-kept-campaign-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** What a wave might come to: other figures for each wave, and a violation in the second one. */
function summarize({ name, workers }: Wave) {
  const number = Number(name.slice(1));
  const kills = workers.flat().map((kill, nth) => ({ point: kill, nth: 1, hit: number + nth + 1 }));
  const violations = number === 1 ? [{ kind: "lost", what: "an entry" }] : [];
  return {
    name,
    kills,
    runs: PLAN.runs,
    recoveries: [100 * (number + 1), 1000 - number],
    violations,
    again: { vendor: number, [name]: 1 },
    ms: 60_000,
  };
}

/** Plays waves of the plan on top of those in the file, as `npm run crash -- --continue` does. */
async function sit({ waves: most, file, enough = Number.POSITIVE_INFINITY }: Sitting) {
  const { waves: played, plan } = await readKeptWaves(file, {}, PLAN);
  const started: string[] = [];
  const waves: Summary[] = await plainPlayWaves({
    waves: planWaves(plan),
    played,
    enough,
    play: async (wave: Wave) => summarize(wave),
    isOver: () => started.length >= most,
    onStart: ({ name }: Wave) => started.push(name),
    onEnd: (all: Summary[]) => writeKeptWaves(file, { plan, waves: all }),
  });
  return { started, waves };
}

describe("a campaign in several sittings", () => {
  test("has the waves and the figures of one without a break", async () => {
    const file = join(folder, "new", "long.json");
    expect((await sit({ waves: 2, file })).started).toEqual(["w0", "w1"]);
    expect((await sit({ waves: 1, file })).started).toEqual(["w2"]);
    const { waves } = await sit({ waves: 4, file });

    const whole = await sit({ waves: 7, file: join(folder, "whole.json") });
    expect(waves).toEqual(whole.waves);
    expect(computeFigures(waves)).toEqual(computeFigures(whole.waves));
    expect(computeFigures(waves)).toMatchObject({ violations: 1, lost: 1, recoveryP99Ms: 1000 });
    expect(computeDetails(waves)).toMatchObject({ waves: 7, runs: 42, minutes: 7, again: { vendor: 21 } });
  });

  test("plays no wave once there are enough kills, earlier ones included", async () => {
    const file = join(folder, "long.json");
    const { waves } = await sit({ waves: 3, file });
    const { kills } = computeFigures(waves);
    expect((await sit({ waves: 9, file, enough: kills })).started).toEqual([]);
    expect((await sit({ waves: 9, file, enough: kills + 1 })).started).toEqual(["w3"]);
  });

  test("keeps the finished waves when a wave throws, and leaves no other file", async () => {
    const file = join(folder, "long.json");
    await sit({ waves: 2, file });
    const { waves: played, plan } = await readKeptWaves(file, {}, PLAN);
    const broken = plainPlayWaves({
      waves: planWaves(plan),
      played,
      enough: 1000,
      play: () => Promise.reject(new Error("the server is gone")),
      isOver: () => false,
      onEnd: (all: Summary[]) => writeKeptWaves(file, { plan, waves: all }),
    });
    await expect(broken).rejects.toThrow("the server is gone");
    expect((await readKeptWaves(file, {}, PLAN)).waves).toEqual(played);
    expect(await readdir(folder)).toEqual(["long.json"]);
  });
});

describe("a file of kept waves", () => {
  test("is refused for another seed or number of agents, and decides both by itself", async () => {
    const file = join(folder, "long.json");
    await sit({ waves: 1, file });
    await expect(readKeptWaves(file, { seed: 4 }, PLAN)).rejects.toThrow("--seed 3, not of --seed 4");
    await expect(readKeptWaves(file, { runs: 48 }, PLAN)).rejects.toThrow("--runs 6, not of --runs 48");
    const other = { seed: 1, runs: 48 };
    expect(await readKeptWaves(file, { seed: 3, runs: undefined }, other)).toMatchObject({ plan: PLAN });
    expect(await readKeptWaves(join(folder, "none.json"), {}, other)).toEqual({ plan: other, waves: [] });
  });

  thoroughTest("is refused and left alone when it is something else", async () => {
    const file = join(folder, "notes.txt");
    for (const text of ["", "{", "[]", '{"plan":{"seed":1}}', "notes\n"]) {
      await writeFile(file, text);
      await expect(readKeptWaves(file, {}, PLAN), text).rejects.toThrow("not a file of a crash campaign");
    }
    const call = promisify(execFile)(process.execPath, [SCRIPT, "--continue", file]);
    await expect(call).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("not a file of a crash campaign"),
    });
    expect(await readFile(file, "utf8")).toBe("notes\n");
  });
});

test("the time left follows from the last fifteen waves", () => {
  const wave = (hit: number, ms: number) => ({ kills: [{ hit }], ms });
  expect(computeProgress([], 20)).toEqual({ killsPerMinute: undefined, minutesLeft: undefined });
  expect(computeProgress([wave(0, 60_000)], 20)).toEqual({
    killsPerMinute: undefined,
    minutesLeft: undefined,
  });
  expect(computeProgress([wave(10, 120_000)], 20)).toEqual({ killsPerMinute: 5, minutesLeft: 2 });
  const slow = Array.from({ length: 10 }, () => wave(1, 600_000));
  const fast = Array.from({ length: 15 }, () => wave(6, 60_000));
  expect(computeProgress([...slow, ...fast], 160)).toEqual({ killsPerMinute: 6, minutesLeft: 10 });
  expect(computeProgress(fast, 1)).toMatchObject({ minutesLeft: 0 });
});
