import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { SqliteTranscript } from "../dist/store/transcript/sqlite/sqlite-transcript.js";
import { startModelServer } from "../dist/testing/model-server/server.js";
import { computeQuantile, openEnvironment } from "./environment.mjs";

const WORKER = fileURLToPath(new URL("../dist/worker.js", import.meta.url));
const POLL_INTERVAL_MS = 5;

/** Kills the worker alternately in a model stream and in a tool; a supervisor starts the next worker immediately. */
export async function measure({ log, quick }) {
  const kills = quick ? 4 : 30;
  const lostKills = quick ? 2 : 12;
  const stage = await openEnvironment();
  const model = await startModelServer({
    conversations: [
      { match: "stream", replies: [{ text: "a long answer ".repeat(2000), chunkSize: 8, chunkDelayMs: 20 }] },
      { match: "tool", replies: [{ toolCalls: [{ name: "bash", arguments: { command: "sleep 60" } }] }] },
    ],
    keepBodies: 0,
  });
  const transcript = await SqliteTranscript.open({ path: `${stage.home}/transcript.db` });
  try {
    const recognised = await runKills({ stage, model, transcript, kills, args: [], log });
    log("dead-worker detection off, as on a lost host:");
    const lost = await runKills({
      stage,
      model,
      transcript,
      kills: lostKills,
      args: ["--no-dead-worker-detection"],
      log,
    });
    return {
      kills,
      p50Ms: computeQuantile(recognised, 0.5),
      p99Ms: computeQuantile(recognised, 0.99),
      lostHostP99Ms: computeQuantile(lost, 0.99),
    };
  } finally {
    await transcript.close();
    await model.stop();
    await stage.strike();
  }
}

async function runKills({ stage, model, transcript, kills, args, log }) {
  const supervisor = superviseWorker(stage, args);
  const times = [];
  try {
    await supervisor.ready();
    for (let n = 0; n < kills; n++) {
      const kind = n % 2 === 0 ? "stream" : "tool";
      const session = randomUUID();
      const handle = await stage.client.workflow.start("agent", {
        taskQueue: "holdfast",
        workflowId: session,
        workflowTaskTimeout: "5s",
        args: [{ prompt: `${kind} ${n}`, definition: createDefinition(model) }],
      });
      const before = await pollUntil(() => waitForStep(transcript, session, kind));
      // The claim precedes the request or the process; shortly after, the worker is in the middle of it.
      await new Promise((resolve) => setTimeout(resolve, 300));
      const killedAtMs = Date.now();
      supervisor.kill();
      const next = await pollUntil(async () =>
        (await transcript.readSteps(session)).find(
          (step) => step.process !== before.process && step.startedAtMs >= killedAtMs,
        ),
      );
      times.push(next.startedAtMs - killedAtMs);
      log(`kill ${n + 1} in a ${kind}: ${times.at(-1)} ms`);
      await handle.terminate("measured");
      await supervisor.ready();
    }
    return times;
  } finally {
    await supervisor.stop();
  }
}

function createDefinition(model) {
  return {
    model: {
      id: "scripted",
      api: "anthropic_messages",
      provider: "anthropic",
      baseUrl: model.anthropicBaseUrl,
      contextWindow: 200_000,
    },
    tools: ["bash"],
  };
}

async function waitForStep(transcript, session, kind) {
  const steps = await transcript.readSteps(session);
  return steps.find(
    (step) => step.kind === (kind === "stream" ? "call-model" : "bash") && step.storedAtMs === undefined,
  );
}

async function pollUntil(probe) {
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}

function superviseWorker(stage, args) {
  let stopped = false;
  let child;
  let ready;
  const start = () => {
    child = spawn(
      process.execPath,
      [WORKER, "--address", stage.server.address, "--home", join(stage.folder, "home"), ...args],
      // The command of the bench sleeps; measured is the recovery, on hosts without bubblewrap too.
      { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, HOLDFAST_SANDBOX: "off" } },
    );
    ready = once(createInterface({ input: child.stdout }), "line");
    child.once("exit", () => {
      if (!stopped) start();
    });
  };
  start();
  return {
    ready: () => ready,
    kill: () => child.kill("SIGKILL"),
    async stop() {
      stopped = true;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}
