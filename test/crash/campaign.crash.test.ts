import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";

const SCRIPT = fileURLToPath(new URL("../../scripts/crash.mjs", import.meta.url));

/** Two waves; `.ci/run` plays the short campaign, `npm run crash` the long one. */
const SLICE = ["--quick", "--kills", "24", "--runs", "11", "--minutes", "3", "--seed", "7"];

/** Plays the slice until there are enough kills, or sends Ctrl-C while it plays its first wave. */
async function playSlice(file: string, { interrupt = false } = {}) {
  const child = spawn(process.execPath, [SCRIPT, ...SLICE, "--json", "--continue", file]);
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    const wasPlaying = errors.includes(" begins");
    errors += chunk;
    if (interrupt && !wasPlaying && errors.includes(" begins")) child.kill("SIGINT");
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  const waves = JSON.parse(await readFile(file, "utf8")).waves as unknown[];
  return { code, errors, waves, figures: JSON.parse(output.trim().split("\n").at(-1) ?? "") };
}

thoroughTest(
  "a slice of the crash campaign: workers die at four points under eleven agents, and nothing is lost, duplicated, paid again or left over [STEER-01.3, TMP-07.1]",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-campaign-"));
    const file = join(folder, "slice.json");
    const first = await playSlice(file, { interrupt: true });
    expect(first.code, first.errors).toBe(130);
    expect(first.waves).toHaveLength(1);
    expect(first.figures.kills).toBeGreaterThan(0);

    const { code, errors, waves, figures } = await playSlice(file);
    expect(code, errors).toBe(0);
    expect(errors).toContain(`has 1 wave: ${first.figures.kills} of 24 kills`);
    expect(waves[0]).toEqual(first.waves[0]);
    expect(Object.keys(figures)).toEqual([
      "kills",
      "violations",
      "repaidStored",
      "unsafeTwice",
      "lost",
      "duplicated",
      "recoveryP50Ms",
      "recoveryP99Ms",
    ]);
    expect(figures).toMatchObject({ violations: 0, repaidStored: 0, unsafeTwice: 0, lost: 0, duplicated: 0 });
    expect(figures.kills).toBeGreaterThanOrEqual(24);
    await rm(folder, { recursive: true });
  },
  300_000,
);
