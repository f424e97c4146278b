// The environment of every example: its own server and worker, a temporary folder, and a model. By default the model is
// scripted and costs nothing; with `--real` it is the vendor's model from the agent file, which needs a key.
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { connect, formatProblem, readAgents, readSuite } from "holdfast";
import { startModelServer, startTestServer } from "holdfast/testing";
import { createWorker } from "holdfast/worker";

// Temporal logs the start and end of every worker; the examples print only warnings and errors.
Runtime.install({ logger: new DefaultLogger("WARN") });

/**
 * @param here - `import.meta.url` of the example, whose folder holds `script.json` and may hold `project/`.
 * @param work - Receives the environment. Everything that was started ends after it, also when it fails.
 */
export async function runExample(here, work) {
  const real = process.argv.includes("--real");
  const endings = [];
  const resolveBeside = (name) => fileURLToPath(new URL(name, here));
  try {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-example-"));
    endings.push(() => rm(folder, { recursive: true, force: true }));
    const workspace = join(folder, "project");
    if (existsSync(resolveBeside("project")))
      await cp(resolveBeside("project"), workspace, { recursive: true });
    else await mkdir(workspace);
    const script = readScript(await readFile(resolveBeside("script.json"), "utf8"), resolveBeside("."));
    const model = real ? undefined : await startModelServer(script);
    if (model !== undefined) {
      endings.push(() => model.stop());
      process.env.ANTHROPIC_API_KEY = "scripted";
    }
    const server = await startTestServer();
    endings.push(() => server.stop());
    const target = { address: server.address, namespace: server.namespace, home: join(folder, "home") };
    // The examples run their own scripts, on hosts without bubblewrap too.
    const worker = await createWorker({ ...target, sandbox: "off" });
    const working = worker.run();
    endings.push(async () => {
      worker.shutdown();
      await working;
    });
    const holdfast = await connect(target);
    endings.push(() => holdfast.close());
    const agents = (file) => readAgentsOfFile(resolveBeside(file), workspace, model?.anthropicBaseUrl);
    const suite = (file) => readSuiteOfFile(resolveBeside(file), model?.anthropicBaseUrl);
    await work({ holdfast, workspace, agents, suite, model });
  } finally {
    for (const end of endings.reverse()) await end().catch(() => {});
  }
}

/**
 * Reads the model's script. `{here}` in it is the example's own folder. `match` may be a list of texts, all of which must occur
 * in the system prompt or in the first message.
 */
function readScript(text, folder) {
  const here = JSON.stringify(folder.replace(/[\\/]$/, "")).slice(1, -1);
  const script = JSON.parse(text.replaceAll("{here}", here));
  const conversations = script.conversations.map(({ match, ...rest }) => {
    if (!Array.isArray(match)) return { match, ...rest };
    const matchesAll = ({ system, firstUserText }) =>
      match.every((part) => system.includes(part) || firstUserText.includes(part));
    return { match: matchesAll, ...rest };
  });
  return { ...script, conversations };
}

/** Reads the agents of a file by name, with the given workspace, and with a scripted model instead of every vendor. */
function readAgentsOfFile(file, workspace, baseUrl) {
  const { agents, problems } = readAgents(file, { cwd: workspace, env: process.env });
  for (const { message } of problems) console.error(`${file}: ${message}`);
  return Object.fromEntries(agents.map(({ name, definition }) => [name, withBaseUrl(definition, baseUrl)]));
}

/** Reads a suite file, with a scripted model instead of every vendor. */
async function readSuiteOfFile(file, baseUrl) {
  const { suite, problems } = await readSuite(file, { env: process.env });
  for (const problem of problems) console.error(formatProblem(problem));
  const configurations = suite.configurations.map(({ definition, ...rest }) => ({
    ...rest,
    definition: withBaseUrl(definition, baseUrl),
  }));
  return { ...suite, configurations };
}

/** Copies a definition, which is a plain value, with another base URL. */
function withBaseUrl(definition, baseUrl) {
  if (baseUrl === undefined) return definition;
  const { model, subAgents } = definition;
  return {
    ...definition,
    model: { ...model, baseUrl },
    ...(subAgents === undefined
      ? {}
      : { subAgents: subAgents.map((one) => ({ ...one, agent: withBaseUrl(one.agent, baseUrl) })) }),
  };
}

/** Prints whether an expectation holds; if not, sets the exit code to 1. */
export function check(what, holds) {
  console.log(`${holds ? "✓" : "✗"} ${what}`);
  if (!holds) process.exitCode = 1;
}
