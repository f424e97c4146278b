// What every example stands on: a server and a worker of its own, a folder that goes away, and a model. The model is a
// scripted one that costs nothing; with `--real` it is the vendor that the agent file names, and its key is needed.
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { connect, readAgents } from "holdfast/client";
import { startModelServer, startTestServer } from "holdfast/testing";
import { createWorker } from "holdfast/worker";

// Temporal tells of every worker that starts and ends; here only what goes wrong is of interest.
Runtime.install({ logger: new DefaultLogger("WARN") });

/**
 * @param here - `import.meta.url` of the example, whose folder may hold `script.json` and `project/`.
 * @param work - Is given the stage. What it has started ends behind it, however it ends.
 */
export async function runExample(here, work) {
  const real = process.argv.includes("--real");
  const endings = [];
  const resolveBeside = (name) => fileURLToPath(new URL(name, here));
  try {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-example-"));
    endings.push(() => rm(folder, { recursive: true, force: true }));
    const workspace = join(folder, "project");
    await cp(resolveBeside("project"), workspace, { recursive: true });
    const script = readScript(await readFile(resolveBeside("script.json"), "utf8"), resolveBeside("."));
    const model = real ? undefined : await startModelServer(script);
    if (model !== undefined) {
      endings.push(() => model.stop());
      process.env.ANTHROPIC_API_KEY = "scripted";
    }
    const server = await startTestServer();
    endings.push(() => server.stop());
    const target = { address: server.address, namespace: server.namespace, home: join(folder, "home") };
    const worker = await createWorker(target);
    const working = worker.run();
    endings.push(async () => {
      worker.shutdown();
      await working;
    });
    const holdfast = await connect(target);
    endings.push(() => holdfast.close());
    const agents = (file) => readAgentsOfFile(resolveBeside(file), workspace, model?.anthropicBaseUrl);
    await work({ holdfast, workspace, agents, model });
  } finally {
    for (const end of endings.reverse()) await end().catch(() => {});
  }
}

/** What the model answers; `{here}` in it is the example's own folder. */
function readScript(text, folder) {
  const here = JSON.stringify(folder.replace(/[\\/]$/, "")).slice(1, -1);
  return JSON.parse(text.replaceAll("{here}", here));
}

/** The agents of a file, by name, at work in a folder; with a scripted model in place of every vendor. */
function readAgentsOfFile(file, workspace, baseUrl) {
  const { agents, problems } = readAgents(file, { cwd: workspace, env: process.env });
  for (const { message } of problems) console.error(`${file}: ${message}`);
  return Object.fromEntries(agents.map(({ name, definition }) => [name, withBaseUrl(definition, baseUrl)]));
}

/** A definition is a plain value: another one is made of it by saying what is different. */
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

/** Says what was expected and is not there, and ends with 1. */
export function check(what, holds) {
  console.log(`${holds ? "✓" : "✗"} ${what}`);
  if (!holds) process.exitCode = 1;
}
