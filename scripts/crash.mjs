// npm run crash: kills workers at every step of many agents, and checks the result of each agent; with --postgres, it
// kills the database under many writers. See docs/crash-contract.md.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runCampaign } from "../test/crash/campaign/campaign.mjs";
import { computeDetails, computeFigures } from "../test/crash/campaign/figures.mjs";
import { planWaves, selectScenarios } from "../test/crash/campaign/plan.mjs";
import { POINTS } from "../test/crash/campaign/points.mjs";

const USAGE = `Usage: npm run crash -- [--quick] [--json]
       npm run crash -- --postgres [--quick] [--kills N] [--seed N] [--json]

Without options: at least 5,000 kills. If you end the campaign and start it again, it resumes.

  --quick          at least 300 kills, every point once; at most 7 minutes
  --json           the last line of standard output is one JSON object
  --kills N        this number of kills instead
  --minutes N      start no new wave after this time
  --runs N         the number of concurrent agents in a wave
  --seed N         select other moments, scenarios and pairs of kills
  --fresh          discard the results of earlier waves
  --at KILLS       one wave with these kills, as printed by a campaign: \`store:after:7,claim:before:2\`; commas separate
                   the lives of one worker, semicolons the workers
  --scenarios S,S  with --at: the scenarios of the wave's agents, one each (default: those of the first wave)
  --points         list the points

  --postgres       kill PostgreSQL instead, 100 times: SIGKILL, immediate shutdown and failover to a streaming standby, at
                   random moments under many writers, and compare the acknowledged data with the stored data. With
                   --quick 5 to 10 times, in about a minute. The last line is one JSON object. Needs PostgreSQL's programs.

Exit code: 0 nothing was lost or done twice, 1 something was, or there were fewer kills than requested.

A kill counts once for each run that it hits.
`;

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    kills: { type: "string" },
    minutes: { type: "string" },
    runs: { type: "string" },
    seed: { type: "string", default: "1" },
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
const seed = Number(values.seed);
if (values.postgres) {
  const isQuick = values.quick && values.kills === undefined;
  const kills = Number(values.kills ?? (values.quick ? 10 : 100));
  // A short campaign has at least one failover, even on a slow machine.
  process.exit(await killPostgres(kills, isQuick ? 5 : kills));
}

const runs = Number(values.runs ?? (values.quick ? 14 : 48));
const isOne = values.at !== undefined;
const targetKills = Number(values.kills ?? (isOne ? 1 : values.quick ? 300 : 5000));
const minutes = Number(values.minutes ?? (values.quick ? 7 : 600));
// A short campaign plays all points, even if that exceeds the requested number of kills.
const atLeastWaves = values.quick && values.kills === undefined ? Math.ceil(POINTS.length / 2) : 0;
const state = values.quick || isOne ? undefined : join(".holdfast", "crash", `${seed}-${runs}.jsonl`);
if (values.fresh && state !== undefined) await rm(state, { force: true });

const waves = await runCampaign({
  waves: isOne ? [parsePoint(values.at)] : planWaves({ seed, runs }),
  enough: targetKills,
  atLeastWaves,
  minutes,
  state,
  told: (wave, so) => {
    const hit = wave.kills.map(({ point, nth, hit }) => `${point}:${nth} hit ${hit}`).join(", ");
    say(
      `${wave.name}: ${hit || "nobody was killed"}; ${(wave.ms / 1000).toFixed(0)} s; ${so.kills} kills so far`,
    );
    for (const { kind, session, what } of wave.violations)
      say(`  VIOLATION ${kind}: ${session ?? ""} ${what}`);
    if (wave.evidence === undefined) return;
    say(`  evidence: ${wave.evidence}`);
    say(`  again: npm run crash -- --at '${wave.at}' --scenarios ${wave.scenarios.join(",")}`);
  },
});
const figures = computeFigures(waves);
const isShort = !isOne && figures.kills < targetKills;
if (isShort) say(`Only ${figures.kills} of ${targetKills} kills within ${minutes} minutes.`);
if (!values.json)
  process.stdout.write(`${JSON.stringify({ ...figures, ...computeDetails(waves) }, null, 2)}\n`);
else process.stdout.write(`${JSON.stringify(figures)}\n`);
process.exit(figures.violations > 0 || isShort ? 1 : 0);

function parsePoint(at) {
  return {
    name: "asked",
    workers: at.split(";").map((kills) => kills.split(",").filter((kill) => kill !== "")),
    scenarios: values.scenarios?.split(",") ?? selectScenarios(0, runs),
  };
}

async function killPostgres(kills, atLeast) {
  await import("../test/support/run-typescript.mjs");
  const { playPostgresCampaign } = await import("../test/crash/postgres/campaign.ts");
  const minutes = Number(values.minutes ?? 1);
  const figures = await playPostgresCampaign({ kills, atLeast, minutes, seed, report: say });
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  const { lost, doubled, failed } = figures;
  return lost + doubled + failed > 0 || figures.kills < atLeast ? 1 : 0;
}
