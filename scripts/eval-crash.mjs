// npm run eval-crash: kills the worker, the client and the Temporal server of a suite's run, and compares its report with that
// of a run that nobody kills.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { removeVolatileFields } from "../dist/evaluation/report/index.js";
import { EvalCrashStage } from "./eval-crash-stage.mjs";

const USAGE = `Usage: npm run eval-crash -- [--quick] [--json] [--cells N] [--kills N] [--postgres URL]

Runs a suite of 5,000 cells while at least 50 SIGKILLs hit its worker, its client and its Temporal server in turn; each starts
again at once. Then runs the same suite with a new store, and nobody is killed. No cell may be lost, no answer that was stored
may be paid again, and the reports of both runs must be the same, byte for byte, without ids, times and what was paid.

Most cells have one answer; each tenth has two messages, and so a run of its own. The vendor counts its answers. When it is
asked a question again, it looks whether the answer is in the store. An answer that was on its way to a killed worker was not
in the store: it counts as \`repeated\` only.

  --quick         2,800 cells, 4 kills
  --json          the last line of standard output is one JSON object
  --cells N       this number of cells instead
  --kills N       this number of kills instead
  --postgres URL  the stores are two new schemas of this database, dropped afterwards, in place of files
  --help          this text

Exit code: 0 nothing was lost or paid again, and the reports are the same; 1 otherwise, or there were fewer kills; 2 bad
arguments.

Examples:
  npm run eval-crash -- --quick
  npm run --silent eval-crash -- --json | tail -n 1
  npm run eval-crash -- --postgres postgresql://postgres@127.0.0.1:5432/postgres
`;

const CONVERSATIONS = 10;
const say = (line) => process.stderr.write(`${line}\n`);

process.exit(await main());

async function main() {
  let values;
  try {
    const flag = { type: "boolean", default: false };
    const text = { type: "string" };
    const options = { quick: flag, json: flag, help: flag, cells: text, kills: text, postgres: text };
    ({ values } = parseArgs({ options }));
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return 2;
  }
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const cells = Number(values.cells ?? (values.quick ? 2800 : 5000));
  const kills = Number(values.kills ?? (values.quick ? 4 : 50));
  if (![cells, kills].every((number) => Number.isSafeInteger(number) && number > 0)) {
    process.stderr.write(`--cells and --kills must be whole numbers from 1.\n\n${USAGE}`);
    return 2;
  }
  const figures = await prove({ cells, kills, postgres: values.postgres });
  const rows = Object.entries(figures).map(
    ([name, value]) => `${name.padEnd(16)}${typeof value === "object" ? JSON.stringify(value) : value}`,
  );
  process.stdout.write(`${values.json ? JSON.stringify(figures) : rows.join("\n")}\n`);
  const { worker, client, server } = figures.kills;
  const isShort = worker + client + server < kills;
  if (isShort) say(`Only ${worker + client + server} of ${kills} kills: the run had ended before.`);
  return isShort || figures.lost + figures.repaidStored > 0 || !figures.identical ? 1 : 0;
}

async function prove({ cells, kills, postgres }) {
  const from = performance.now();
  const stage = await EvalCrashStage.open(postgres);
  try {
    const suite = { name: "crash", cells, vendor: stage.vendorUrl, conversations: CONVERSATIONS };
    const killed = await playKilled(stage, suite, kills);
    const counted = await stage.readVendor();
    await fetch(stage.vendorUrl, { method: "DELETE" });
    const calm = await playCalm(stage, suite);
    const reports = await Promise.all([
      stage.readReport("killed", killed.run),
      stage.readReport("calm", calm.run),
    ]);
    const [reportKilled, reportCalm] = reports.map((report) => JSON.stringify(removeVolatileFields(report)));
    if (reportKilled !== reportCalm) say(`The reports differ:\n${reportKilled}\n${reportCalm}`);
    return {
      cells,
      kills: killed.kills,
      lost: cells - killed.ended.finished,
      repaidStored: counted.repaid,
      repeated: counted.repeated,
      identical: reportKilled === reportCalm,
      killedSeconds: Math.round(killed.seconds),
      calmSeconds: Math.round(calm.seconds),
      seconds: Math.round((performance.now() - from) / 1000),
    };
  } finally {
    await stage.close();
  }
}

async function playCalm(stage, suite) {
  const from = performance.now();
  const worker = stage.start("agent-worker.mjs", "calm");
  await worker.ready;
  const client = stage.start("eval-client.mjs", "calm", ["--answers", JSON.stringify(suite)]);
  await client.exited;
  await worker.kill();
  const { run, type } = client.last();
  if (type !== "ended") throw new Error("the client of the undisturbed run ended before the run");
  return { run, seconds: (performance.now() - from) / 1000 };
}

async function playKilled(stage, suite, wanted) {
  const from = performance.now();
  let worker = stage.start("agent-worker.mjs", "killed");
  await worker.ready;
  let client = stage.start("eval-client.mjs", "killed", ["--answers", JSON.stringify(suite)]);
  const { run } = await client.opened;
  const follow = () => stage.start("eval-client.mjs", "killed", ["--follow", run]);
  const kills = { worker: 0, client: 0, server: 0 };
  const victims = {
    worker: async () => {
      await worker.kill();
      worker = stage.start("agent-worker.mjs", "killed");
      await worker.ready;
    },
    client: async () => {
      await client.kill();
      client = follow();
      await client.opened;
    },
    server: () => stage.killServer(),
  };
  const names = Object.keys(victims);
  const questions = suite.cells + Math.ceil(suite.cells / CONVERSATIONS);
  for (let n = 0; n < wanted; n++) {
    // Spread over the whole run, whatever each kill costs.
    const reached = await stage.waitForQuestions((questions * (n + 1)) / (wanted + 1), () => client.last());
    if (!reached) break;
    await sleep(Math.random() * 200);
    const name = names[n % names.length];
    // Nobody is there to be killed once the run has ended.
    if (client.last()?.type === "ended") break;
    await victims[name]();
    kills[name] += 1;
    const { answers, repeated, repaid } = await stage.readVendor();
    say(
      `kill ${n + 1}, ${name}: ${answers} answers, ${repeated} of them repeated, ${repaid} although stored`,
    );
  }
  await client.exited;
  const ended = client.last();
  if (ended.type !== "ended") throw new Error(`the client ended before the run: ${JSON.stringify(ended)}`);
  await worker.kill();
  return { run, ended, kills, seconds: (performance.now() - from) / 1000 };
}
