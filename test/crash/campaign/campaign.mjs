import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openEnvironment } from "./environment.mjs";
import { countKills } from "./figures.mjs";
import { playWave, removeWaveFiles } from "./wave.mjs";

/**
 * Plays waves on a server and a vendor of its own: see `playWaves`, which gets the same options but `play`.
 */
export async function runCampaign(options) {
  let environment;
  let hasViolations = false;
  const play = async (wave) => {
    environment ??= await openEnvironment();
    const startedAtMs = Date.now();
    const result = await playWave(environment, wave);
    const summary = summarizeWave(wave, result, Date.now() - startedAtMs);
    if (result.violations.length === 0) {
      await removeWaveFiles(result);
      return summary;
    }
    hasViolations = true;
    return { ...summary, evidence: await writeEvidence(wave, result) };
  };
  try {
    return await playWaves({ ...options, play });
  } finally {
    await environment?.close({ keep: hasViolations });
  }
}

/**
 * Plays waves until there are enough kills, or the campaign is over; returns the summaries of all waves.
 *
 * @param options.waves - What `planWaves` yields.
 * @param options.played - The summaries of the first waves, which were played before and are not played again.
 * @param options.enough - The number of kills, those of `played` included.
 * @param options.atLeastWaves - Waves that are played even if there are enough kills.
 * @param options.isOver - Whether no further wave may begin.
 * @param options.onStart - Called with each wave before it is played.
 * @param options.onEnd - Called with all summaries after each wave, and awaited.
 */
export async function playWaves({
  waves,
  played = [],
  enough,
  atLeastWaves = 0,
  play,
  isOver,
  onStart,
  onEnd,
}) {
  let summaries = played;
  let number = 0;
  for (const wave of waves) {
    if (number++ < played.length) continue;
    const isEnough = countKills(summaries) >= enough && summaries.length >= atLeastWaves;
    if (isEnough || isOver()) break;
    onStart?.(wave);
    summaries = [...summaries, await play(wave)];
    await onEnd(summaries);
  }
  return summaries;
}

async function writeEvidence(wave, { folder, violations, evidence }) {
  const file = join(folder, "evidence.json");
  await writeFile(file, JSON.stringify({ wave, violations, runs: evidence }, null, 1));
  return file;
}

function summarizeWave(
  { name, workers, scenarios },
  { kills, runs, recoveries, violations, again, passed },
  ms,
) {
  return {
    name,
    at: workers.map((kills) => kills.join(",")).join(";"),
    scenarios,
    kills: kills.map(({ point, nth, sessions }) => ({ point, nth, hit: sessions.length })),
    runs,
    recoveries,
    violations,
    again: again.reduce(addCounts, {}),
    passed,
    ms,
  };
}

function addCounts(sum, counts) {
  const both = { ...sum };
  for (const [cause, times] of Object.entries(counts)) both[cause] = (both[cause] ?? 0) + times;
  return both;
}
