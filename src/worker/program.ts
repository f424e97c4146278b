import { parseArgs } from "node:util";
import { Runtime } from "@temporalio/worker";
import { parseSandboxMode } from "../config/sandbox.ts";
import { createVersioning, parseSeconds } from "../config/worker-environment.ts";
import { createLogger } from "../platform/log.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import { createWorker } from "./create-worker.ts";
import { shutdownOnSignals } from "./shutdown-on-signals.ts";
import { loadTools } from "./worker-tools.ts";

/** How long a process that has no work left may take to end by itself. */
const EXIT_TIMEOUT_MS = 500;

/** Runs a process that is only a worker. */
export async function runWorkerProgram(): Promise<void> {
  const { values } = parseArgs({
    options: {
      home: { type: "string" },
      address: { type: "string" },
      namespace: { type: "string" },
      "task-queue": { type: "string" },
      tools: { type: "string", multiple: true },
      "no-dead-worker-detection": { type: "boolean" },
      drain: { type: "string" },
      "build-id": { type: "string" },
      deployment: { type: "string" },
      versioning: { type: "string" },
      sandbox: { type: "string" },
    },
  });
  // The reader of the output may be gone, or its disk may be full: that is no reason to end.
  for (const output of [process.stdout, process.stderr]) output.on("error", () => undefined);
  const log = createLogger(process.env["HOLDFAST_LOG"] ?? "warn");
  // Node's own warnings, in place of its text on standard error.
  process.removeAllListeners("warning");
  process.on("warning", (warning) => log.debug({ err: warning }, warning.message));
  const versioning = createVersioning(
    { buildId: values["build-id"], deployment: values.deployment, behavior: values.versioning },
    { buildId: "--build-id", behavior: "--versioning" },
  );
  Runtime.install({
    shutdownSignals: [],
    logger: {
      log: () => undefined,
      trace: () => undefined,
      debug: () => undefined,
      info: (message, meta) => log.debug({ ...meta }, message),
      warn: (message, meta) => log.warn({ ...meta }, message),
      error: (message, meta) => log.error({ ...meta }, message),
    },
  });
  const tools = (await Promise.all((values.tools ?? []).map(loadTools))).flat();
  const worker = await createWorker({
    ...omitUndefined({
      home: values.home,
      address: values.address,
      namespace: values.namespace,
      taskQueue: values["task-queue"],
    }),
    ...(values["no-dead-worker-detection"] === true ? { deadWorkerDetection: false } : {}),
    ...(values.drain === undefined ? {} : { drainMs: parseSeconds("--drain", values.drain) }),
    ...omitUndefined({ versioning }),
    ...(values.sandbox === undefined ? {} : { sandbox: parseSandboxMode("--sandbox", values.sandbox) }),
    hideEnvironment: true,
    tools,
    log,
  });
  const running = worker.run();
  shutdownOnSignals(worker);
  const { id, address, namespace, taskQueue } = worker;
  process.stdout.write(
    `${JSON.stringify({ type: "ready", id, address, namespace, taskQueue, pid: process.pid })}\n`,
  );
  await running;
  // Steps that were released at once may still run in this process.
  setTimeout(() => process.exit(), EXIT_TIMEOUT_MS).unref();
}
