// npm run bench -- NAME [--json]: measures one run on one server; see docs/benchmarks.md.
import { parseArgs } from "node:util";

const BENCHES = {
  history: "bytes and events a turn, around turn 10 and around turn 1,000",
  turn: "milliseconds a turn against a bare workflow of two null activities",
  sealed: "a turn with both encryptions against one with neither",
  fleet: "1,000 agents of 10 turns on one worker against 1,000 bare workflows (--agents N)",
  profile: "CPU by thread and by function: 200 agents of 10 turns beside bare workflows (--agents N)",
  recovery: "time from SIGKILL of the worker to the next step",
  tree: "a sub-agent call against a plain child workflow with the same activities; many concurrent calls",
  stream: "first token and tokens a second at watchers, and what the hub costs a run",
  core: "steps of the machine a second, and bytes of its state",
  store: "claims and results a second, in a file and in PostgreSQL (HOLDFAST_DATABASE_URL)",
  wire: "answers read a second by each adapter against its vendor's SDK, and memory on a stream of 50 MB",
  git: "the map of a repository, hunks a second of the coverage ledger, and what a review adds to its sub-agents",
  sandbox: "what a sandbox adds to a command, and whether a forbidden act succeeds in it",
  eval: "cells of suites a second, of one answer and of ten turns; memory, histories, a killed worker, a resumed run",
  "eval-peers": "the same cells of one answer by Inspect AI, undisturbed and killed half-way (needs Python)",
  coldstart: "a worker process from its start to its first poll",
};

const USAGE = `Usage: npm run bench -- NAME [--json] [--quick] [--agents N] [--part NAME] [--postgres URL]

${Object.entries(BENCHES)
  .map(([name, what]) => `  ${name.padEnd(12)}${what}`)
  .join("\n")}

  --json     the last line of standard output is one JSON object
  --quick    a smaller run that only checks that the benchmark works; its figures are not meaningful
  --agents   how many agents run, for fleet and profile
  --part     of eval, only one part: answers, turns, killed or resumed
  --postgres of eval, the transcripts are new schemas of this database, dropped afterwards, in place of files

Examples:
  npm run bench -- turn
  npm run bench -- fleet --json | tail -n 1
  npm run bench -- eval --part answers --postgres postgresql://postgres@127.0.0.1:5432/postgres
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean" },
    quick: { type: "boolean" },
    agents: { type: "string" },
    part: { type: "string" },
    postgres: { type: "string" },
    help: { type: "boolean" },
  },
});
const [name] = positionals;
if (values.help || name === undefined || !Object.hasOwn(BENCHES, name)) {
  const unknown = name !== undefined && !values.help;
  (unknown ? process.stderr : process.stdout).write(
    unknown ? `Unknown benchmark "${name}".\n\n${USAGE}` : USAGE,
  );
  process.exit(values.help ? 0 : 2);
}

const agents = values.agents === undefined ? undefined : Number(values.agents);
if (agents !== undefined && !(Number.isSafeInteger(agents) && agents > 0)) {
  process.stderr.write(`--agents must be a whole number from 1, not "${values.agents}".\n\n${USAGE}`);
  process.exit(2);
}

const { measure, PARTS = [] } = await import(`./${name}.mjs`);
const { quick = false, part, postgres } = values;
if (part !== undefined && !PARTS.includes(part)) {
  const known = PARTS.length === 0 ? "it is measured as a whole" : `it has ${PARTS.join(", ")}`;
  process.stderr.write(`${name} has no part "${part}": ${known}.\n\n${USAGE}`);
  process.exit(2);
}

const log = (line) => process.stderr.write(`${line}\n`);
const figures = await measure({ log, quick, agents, part, postgres });
if (values.json) process.stdout.write(`${JSON.stringify(figures)}\n`);
else
  for (const [figure, value] of Object.entries(figures))
    process.stdout.write(
      `${figure.padEnd(24)}${typeof value === "object" ? JSON.stringify(value) : value}\n`,
    );
process.exit(0);
