import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openEnvironment } from "./environment.mjs";
import { playWave, removeWaveFiles } from "./wave.mjs";

/**
 * Plays waves until there are enough kills, or the time is over; gives what each of them came to.
 *
 * @param options.waves - What `planWaves` gives.
 * @param options.enough - Kills; no fewer than `atLeastWaves` are played for them.
 * @param options.state - A file of waves that were played before; those are not played again.
 * @param options.told - Told of each wave behind its end.
 */
export async function runCampaign({ waves, enough, atLeastWaves = 0, minutes, state, told: report }) {
  const until = Date.now() + minutes * 60_000;
  const played = await readPlayedWaves(state);
  const kills = () =>
    played.reduce((sum, wave) => sum + wave.kills.reduce((all, { hit }) => all + hit, 0), 0);
  const stage = await openEnvironment();
  let hasObjections = false;
  try {
    let number = 0;
    for (const wave of waves) {
      if (number++ < played.length) continue;
      if ((kills() >= enough && played.length >= atLeastWaves) || Date.now() > until) break;
      const startedAtMs = Date.now();
      const result = await playWave(stage, wave);
      const summary = summarizeWave(wave, result, Date.now() - startedAtMs);
      if (result.violations.length === 0) await removeWaveFiles(result);
      else {
        hasObjections = true;
        summary.evidence = join(result.folder, "evidence.json");
        await writeFile(
          summary.evidence,
          JSON.stringify({ wave, violations: result.violations, runs: result.evidence }, null, 1),
        );
      }
      played.push(summary);
      if (state !== undefined) await appendFile(state, `${JSON.stringify(summary)}\n`);
      report(summary, { kills: kills(), waves: played.length });
    }
  } finally {
    await stage.close({ keep: hasObjections });
  }
  return played;
}

async function readPlayedWaves(state) {
  if (state === undefined) return [];
  await mkdir(dirname(state), { recursive: true });
  const text = await readFile(state, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
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
