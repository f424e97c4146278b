// npm run crash: kills workers at every step of many agents, and checks the result of each agent; with --postgres, it
// kills the database under many writers. See docs/crash-contract.md.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runCampaign } from "../test/crash/campaign/campaign.mjs";
import { computeDetails, computeFigures, computeProgress } from "../test/crash/campaign/figures.mjs";
import { readKeptWaves, writeKeptWaves } from "../test/crash/campaign/kept-waves.mjs";
import { planWaves, selectScenarios } from "../test/crash/campaign/plan.mjs";
import { POINTS } from "../test/crash/campaign/points.mjs";

const USAGE = `Usage: npm run crash -- [--quick] [--kills N] [--continue FILE] [--json]
       npm run crash -- --postgres [--quick] [--kills N] [--seed N] [--json]

Without options: at least 5,000 kills. Ctrl-C ends the campaign after the wave that it plays, and the same command continues
it; a second Ctrl-C ends it at once, without that wave.

  --quick          at least 300 kills, every point once; at most 7 minutes
  --json           the last line of standard output is one JSON object with the figures of all waves
  --kills N        this number of kills instead, those of earlier sittings included
  --continue FILE  keep the waves in FILE, which is replaced after each of them, and continue those that are there; the seed
                   and the number of agents are those of the file (default: .holdfast/crash/SEED-RUNS.json; --quick and
                   --at keep none)
  --minutes N      start no new wave after this time
  --runs N         the number of concurrent agents in a wave
  --seed N         select other moments, scenarios and pairs of kills
  --fresh          discard the waves that the file has
  --at KILLS       one wave with these kills, as printed by a campaign: \`store:after:7,claim:before:2\`; commas separate
                   the lives of one worker, semicolons the workers
  --scenarios S,S  with --at: the scenarios of the wave's agents, one each (default: those of the first wave)
  --points         list the points

  --postgres       kill PostgreSQL instead, 100 times: SIGKILL, immediate shutdown and failover to a streaming standby, at
                   random moments under many writers, and compare the acknowledged data with the stored data. With
                   --quick 5 to 10 times, in about a minute. The last line is one JSON object. Needs PostgreSQL's programs.

Exit code: 0 nothing was lost or done twice, 1 something was, or there were fewer kills than requested, 130 Ctrl-C ended the
campaign before.

A kill counts once for each run that it hits.

Example: a long campaign in several sittings, an hour each.

  npm run crash -- --kills 20000 --continue long.json --minutes 60 --json
`;

/** npm forwards Ctrl-C to a program that has already received it from the terminal. */
const SAME_INTERRUPT_MS = 500;

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    kills: { type: "string" },
    minutes: { type: "string" },
    runs: { type: "string" },
    seed: { type: "string" },
    continue: { type: "string" },
    fresh: { type: "boolean", default: false },
    at: { type: "string" },
    scenarios: { type: "string" },
    points: { type: "boolean" },
    postgres: { type: "boolean" },
    help: { type: "boolean" },
  },
});
if (values.help || values.points) {
  process.stdout.write(values.help ? USAGE : `${POINTS.join("\n")}\n`);
  process.exit(0);
}

const say = (line) => process.stderr.write(`${line}\n`);
if (values.postgres) {
  if (values.continue !== undefined) fail("--continue is for the campaign that kills workers.");
  const isQuick = values.quick && values.kills === undefined;
  const kills = Number(values.kills ?? (values.quick ? 10 : 100));
  // A short campaign has at least one failover, even on a slow machine.
  process.exit(await killPostgres(kills, isQuick ? 5 : kills));
}

const isOne = values.at !== undefined;
const targetKills = Number(values.kills ?? (isOne ? 1 : values.quick ? 300 : 5000));
const minutes = Number(values.minutes ?? (values.quick ? 7 : 600));
const endAtMs = Date.now() + minutes * 60_000;
// A short campaign plays all points, even if that exceeds the requested number of kills.
const atLeastWaves = values.quick && values.kills === undefined ? Math.ceil(POINTS.length / 2) : 0;
const asked = { seed: parseNumber(values.seed), runs: parseNumber(values.runs) };
const defaults = { seed: asked.seed ?? 1, runs: asked.runs ?? (values.quick ? 14 : 48) };
const file = chooseFile(defaults);
if (values.fresh && file !== undefined) await rm(file, { force: true });
const { plan, waves: played } =
  file === undefined
    ? { plan: defaults, waves: [] }
    : await readKeptWaves(file, asked, defaults).catch(({ message }) => fail(message));
if (played.length > 0)
  say(`${file} has ${played.length} wave${played.length === 1 ? "" : "s"}: ${formatProgress(played)}`);

// The workers and servers are in process groups of their own: Ctrl-C reaches this process only.
let interruptedAtMs;
process.on("SIGINT", () => {
  if (interruptedAtMs === undefined) {
    interruptedAtMs = Date.now();
    say("Ends after this wave. Ctrl-C again ends at once, without it.");
  } else if (Date.now() - interruptedAtMs > SAME_INTERRUPT_MS) process.exit(130);
});

const waves = await runCampaign({
  waves: isOne ? [parsePoint(values.at)] : planWaves(plan),
  played,
  enough: targetKills,
  atLeastWaves,
  isOver: () => interruptedAtMs !== undefined || Date.now() > endAtMs,
  onStart: ({ name, workers }) => say(`${name} begins: ${workers.flat().join(", ")}`),
  onEnd: async (all) => {
    if (file !== undefined) await writeKeptWaves(file, { plan, waves: all });
    reportWave(all.at(-1), all);
  },
});
const figures = computeFigures(waves);
const isShort = !isOne && figures.kills < targetKills;
const isInterrupted = interruptedAtMs !== undefined;
if (isShort && !isInterrupted)
  say(`Only ${figures.kills} of ${targetKills} kills within ${minutes} minutes.`);
if (isShort && file !== undefined) say(`The same command continues ${file}.`);
if (!values.json)
  process.stdout.write(`${JSON.stringify({ ...figures, ...computeDetails(waves) }, null, 2)}\n`);
else process.stdout.write(`${JSON.stringify(figures)}\n`);
process.exit(figures.violations > 0 ? 1 : isShort ? (isInterrupted ? 130 : 1) : 0);

function chooseFile({ seed, runs }) {
  if (values.continue !== undefined)
    return isOne ? fail("--at plays one wave, which is not kept.") : values.continue;
  return values.quick || isOne ? undefined : join(".holdfast", "crash", `${seed}-${runs}.json`);
}

function reportWave(wave, all) {
  const hit = wave.kills.map(({ point, nth, hit }) => `${point}:${nth} hit ${hit}`).join(", ");
  say(
    `${wave.name}: ${hit || "nobody was killed"}; ${(wave.ms / 1000).toFixed(0)} s; ${formatProgress(all)}`,
  );
  for (const { kind, session, what } of wave.violations) say(`  VIOLATION ${kind}: ${session ?? ""} ${what}`);
  if (wave.evidence === undefined) return;
  say(`  evidence: ${wave.evidence}`);
  say(`  again: npm run crash -- --at '${wave.at}' --scenarios ${wave.scenarios.join(",")}`);
}

function formatProgress(all) {
  const kills = `${computeFigures(all).kills} of ${targetKills} kills`;
  const { killsPerMinute, minutesLeft } = computeProgress(all, targetKills);
  if (killsPerMinute === undefined) return kills;
  return `${kills}, ${killsPerMinute.toFixed(1)} a minute, ${formatMinutes(minutesLeft)} left`;
}

function formatMinutes(minutes) {
  const whole = Math.ceil(minutes);
  return whole < 60 ? `${whole} min` : `${Math.floor(whole / 60)} h ${whole % 60} min`;
}

function parseNumber(text) {
  return text === undefined ? undefined : Number(text);
}

function fail(message) {
  say(message);
  process.exit(2);
}

function parsePoint(at) {
  return {
    name: "asked",
    workers: at.split(";").map((kills) => kills.split(",").filter((kill) => kill !== "")),
    scenarios: values.scenarios?.split(",") ?? selectScenarios(0, plan.runs),
  };
}

async function killPostgres(kills, atLeast) {
  await import("../test/support/run-typescript.mjs");
  const { playPostgresCampaign } = await import("../test/crash/postgres/campaign.ts");
  const minutes = Number(values.minutes ?? 1);
  const seed = Number(values.seed ?? 1);
  const figures = await playPostgresCampaign({ kills, atLeast, minutes, seed, report: say });
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  const { lost, doubled, failed } = figures;
  return lost + doubled + failed > 0 || figures.kills < atLeast ? 1 : 0;
}
