// npm run scenario -- FILE [--server] [--json]: plays scenarios from a file; see docs/scenarios.md.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const USAGE = `Usage: npm run scenario -- FILE [--server] [--json] [--only NAME]

Plays the scenarios of a JSON file, one or a list, and prints events, hook calls and the requests to the model.

  --server     also on the real stack (Temporal server, worker, scripted vendor); both results must be equal
  --json       a JSON line for each event, hook call and request, and finally one of type "result" for each scenario
  --only NAME  only the scenario with this name

Exit code: 0 all expectations are met, 1 at least one is not, 2 the file or a scenario in it is not valid.

Example:
  npm run scenario -- test/scenarios/turns.json --only "one prompt, one answer"
`;

const FAILED = 1;
const BAD_INPUT = 2;

process.exitCode = await main();

async function main() {
  const options = readScenarioFiles();
  if (options === undefined) return BAD_INPUT;
  if (options.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const kit = await import("../dist/devkit/scenario/index.js");
  let stage;
  try {
    const scenarios = selectByName(await kit.loadScenarios(options.file), options.only, kit);
    for (const scenario of scenarios) await kit.playPlain(scenario);
    stage = options.server ? await openScenarioStack(kit, scenarios) : undefined;
    let code = 0;
    for (const scenario of scenarios) {
      const report = await kit.runScenario(scenario, stage?.play);
      const lines = options.json ? kit.formatJsonLines(report) : kit.formatReport(report);
      process.stdout.write(`${lines.join("\n")}\n`);
      if (report.problems.length > 0) code = FAILED;
    }
    return code;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return error instanceof kit.ScenarioError ? BAD_INPUT : FAILED;
  } finally {
    await stage?.close();
  }
}

function readScenarioFiles() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        server: { type: "boolean" },
        json: { type: "boolean" },
        only: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
    const [file, ...others] = positionals;
    if (values.help || (file !== undefined && others.length === 0)) return { ...values, file };
    process.stderr.write(`Give one file of scenarios.\n\n${USAGE}`);
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
  }
  return undefined;
}

function selectByName(scenarios, name, { ScenarioError }) {
  if (name === undefined) return scenarios;
  const found = scenarios.filter((scenario) => scenario.name === name);
  if (found.length > 0) return found;
  const names = scenarios.map((scenario) => `"${scenario.name}"`).join(", ");
  throw new ScenarioError([`--only: no scenario has the name "${name}"; the scenarios are ${names}`]);
}

async function openScenarioStack(kit, scenarios) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const { status } = spawnSync(process.execPath, [join(root, "scripts", "setup.mjs")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error("The setup of the server failed; see the output above.");
  const { DefaultLogger, Runtime } = await import("@temporalio/worker");
  const { startTestServer } = await import("../dist/testing/test-server.js");
  const { createWorker } = await import("../dist/worker.js");
  Runtime.install({ logger: new DefaultLogger("ERROR") });
  const server = await startTestServer();
  try {
    const { address, namespace } = server;
    const stage = await kit.openScenarioServer({ address, namespace, createWorker }, scenarios);
    return {
      play: stage.play,
      close: async () => {
        await stage.close();
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
