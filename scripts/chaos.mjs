// npm run chaos: injects faults into a real system, one after another, and checks the result of each; see docs/chaos.md.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { listScenarios, playAll } from "../test/chaos/chaos.mjs";
import { ROOT_PREFIX, removeEverything } from "../test/chaos/cleanup.mjs";
import { sumReports } from "../test/chaos/findings.mjs";

const USAGE = `Usage: npm run chaos -- [--json] [--quick] [--only NAME]

Injects faults into a real Temporal server, real PostgreSQL and real workers, and checks the results of the agents.
Without options: every scenario.

  --json        the last line of standard output is one JSON object of numbers; everything else goes to standard error
  --quick       only the quick scenarios: about two minutes on two idle cores
  --only NAME   only this scenario; may be repeated
  --list        list the scenarios: the faults and the promises of each
  --help        this text

Exit code: 0 every promise was kept, 1 at least one was not, 2 bad arguments, 130 after Ctrl-C. A scenario that cannot run
on this machine is reported, and fails if CI=true.
`;

const EVIDENCE = join(".holdfast", "chaos");

process.exitCode = await main();

async function main() {
  let options;
  try {
    options = parseArgs({
      options: {
        json: { type: "boolean", default: false },
        quick: { type: "boolean", default: false },
        only: { type: "string", multiple: true },
        list: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    return exitWithUsage(error.message);
  }
  if (options.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const all = await listScenarios();
  if (options.list) {
    for (const { name, plays, promise, isQuick } of all)
      process.stdout.write(`${name}${isQuick ? " (quick)" : ""}\n  ${plays}\n  Promise: ${promise}\n`);
    return 0;
  }
  const unknown = options.only?.find((name) => !all.some((scenario) => scenario.name === name));
  if (unknown !== undefined)
    return exitWithUsage(`no scenario has the name "${unknown}"; --list lists them all`);
  const chosen = all.filter(
    ({ name, isQuick }) => options.only?.includes(name) ?? (!options.quick || isQuick === true),
  );
  return await playChosen(chosen, { isJson: options.json });
}

function exitWithUsage(message) {
  process.stderr.write(`${message}\n\n${USAGE}`);
  return 2;
}

async function playChosen(scenarios, { isJson }) {
  const say = (line) => (isJson ? process.stderr : process.stdout).write(`${line}\n`);
  const isCi = process.env.CI === "true";
  const root = mkdtempSync(join(tmpdir(), ROOT_PREFIX));
  const mark = `${process.pid}-${Date.now()}/`;
  // Whenever this process ends, except by SIGKILL, it removes everything that it created.
  process.once("exit", () => removeEverything({ mark, root }));
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(signal, () => {
      if (interrupt.signal.aborted) process.exit(130);
      say("Ending the running scenario. Press Ctrl-C again to end it immediately.");
      interrupt.abort();
    });
  const startedAtMs = performance.now();
  const reports = await playAll(scenarios, {
    root,
    mark,
    evidence: EVIDENCE,
    signal: interrupt.signal,
    onReport: (report) => say(describe(report, isCi)),
  });
  const notPlayed = reports.filter((report) => report.notPlayed !== undefined).length;
  const totals = sumReports(reports, { isCi });
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0);
  say(
    `${totals.scenarios} scenarios in ${seconds} s: ${totals.failed} failed, ${notPlayed} notPlayed; ` +
      `lost ${totals.lost}, doubled ${totals.doubled}, unsafeTwice ${totals.unsafeTwice}, stuck ${totals.stuck}, ` +
      `leaked ${totals.leaked}`,
  );
  if (interrupt.signal.aborted) return 130;
  if (isJson) process.stdout.write(`${JSON.stringify(totals)}\n`);
  return totals.failed > 0 ? 1 : 0;
}

function describe({ name, ms, findings, notPlayed }, isCi) {
  const time = `${(ms / 1000).toFixed(1)} s`.padStart(8);
  if (notPlayed !== undefined)
    return `${time}  ${name.padEnd(26)} notPlayed${isCi ? ", which fails here (CI=true)" : ""}: ${notPlayed}`;
  if (findings.length === 0) return `${time}  ${name.padEnd(26)} ok`;
  const lines = findings.map(
    ({ count, what, where }) => `            ${count}: ${where === undefined ? "" : `${where}: `}${what}`,
  );
  const again = `            again: npm run chaos -- --only ${name}; evidence: ${join(EVIDENCE, name)}`;
  return [`${time}  ${name.padEnd(26)} FAILED`, ...lines, again].join("\n");
}
