// A worker of an application runs an agent inside a workflow of its own. Its process is killed while the agent works.
// Run it: node examples/in-your-worker/main.mjs [--real]
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import { connect } from "holdfast";
import { startModelServer, startTestServer } from "holdfast/testing";
import { check } from "../run-example.mjs";

const TASK_QUEUE = "orders";
const WISH = "Please deliver it to my neighbour instead.";
const script = JSON.parse(await readFile(new URL("script.json", import.meta.url), "utf8"));

const endings = [];
try {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-example-"));
  endings.push(() => rm(folder, { recursive: true, force: true }));
  const model = process.argv.includes("--real") ? undefined : await startModelServer(script);
  if (model !== undefined) endings.push(() => model.stop());
  const server = await startTestServer();
  endings.push(() => server.stop());
  const home = join(folder, "home");
  const ledger = join(folder, "ledger.txt");
  const env = {
    ADDRESS: server.address,
    NAMESPACE: server.namespace,
    TASK_QUEUE,
    HOME_FOLDER: home,
    LEDGER: ledger,
    ...(model === undefined ? {} : { MODEL_URL: model.anthropicBaseUrl, ANTHROPIC_API_KEY: "scripted" }),
  };
  let worker = startWorker(env);
  endings.push(() => kill(worker));

  const connection = await Connection.connect({ address: server.address });
  endings.push(() => connection.close());
  const client = new Client({ connection, namespace: server.namespace });
  const run = await client.workflow.start("handleOrder", {
    args: [{ item: "a red lamp", customer: "Ada" }],
    taskQueue: TASK_QUEUE,
    workflowId: "order-1",
  });

  // The model's first answer waits, so that the customer's words and the kill arrive while the agent works.
  await model?.waitForHold("first answer", { timeoutMs: 60_000 });
  await run.executeUpdate("customerWrites", { args: [WISH] });
  await kill(worker);
  console.log("  the worker is killed, and another one is started");
  worker = startWorker(env);
  await model?.waitForRequest(2, { timeoutMs: 60_000 });
  model?.release("first answer");

  const { receipt, session, letter, day } = await run.result();
  console.log(`\n${letter}\n`);
  const lines = (await readFile(ledger, "utf8")).trim().split("\n");
  check(
    "the workflow's own activities ran once each",
    count(lines, "charged Ada") === 1 && count(lines, "wrote to Ada") === 1,
  );
  check("the result of the agent has its fields", receipt === "receipt for Ada" && typeof day === "string");

  const holdfast = await connect({ client, home, taskQueue: TASK_QUEUE });
  check(
    "the agent's session is read through the application's own client",
    (await holdfast.session(session).result()).outcome.type === "answered",
  );
  await holdfast.close();
  check("that client stays open", (await run.describe()).status.name === "COMPLETED");

  if (model !== undefined) {
    check("the tool ran once", count(lines, "looked up a red lamp") === 1);
    check(
      "the agent read what the customer wrote",
      JSON.stringify(model.requests.at(-1)?.body).includes(WISH),
    );
    check("no answer was paid for twice", model.answersRepaid() === 0);
    check(
      "the letter says what the script's model wrote",
      letter.includes("neighbour") && day === "Thursday",
    );
  }
} finally {
  for (const end of endings.reverse()) await end().catch(() => {});
}

function startWorker(env) {
  return spawn(process.execPath, [fileURLToPath(new URL("worker.mjs", import.meta.url))], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
}

async function kill(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

function count(lines, line) {
  return lines.filter((one) => one === line).length;
}
