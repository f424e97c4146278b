import { resolve } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { Command } from "commander";
import { createVersioning, parseSeconds } from "../../../config/worker-environment.ts";
import { findLocalServer, getConfiguredAddress } from "../connection.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { print } from "../output.ts";
import { type SandboxFlag, WORKER_SANDBOX_OPTION } from "../sandbox-flag.ts";
import { checkBeforeWorker } from "../start-checks.ts";
import { UsageError } from "../usage-error.ts";
import { spawnWorker } from "../worker-child.ts";
import { chooseWorkerSandbox } from "../worker-sandbox.ts";

type Flags = SandboxFlag & {
  readonly tools?: readonly string[];
  readonly deadWorkerDetection: boolean;
  readonly drain?: string;
  readonly buildId?: string;
  readonly deployment?: string;
  readonly versioning?: string;
};

const NAMES = { buildId: "--build-id", behavior: "--versioning" };

export function configureWorkerCommand(command: Command, runAction: RunAction): void {
  command
    .option("--tools <file...>", "modules that export a tool or a list of tools by default")
    .option("--no-dead-worker-detection", "find dead workers of this host only by missing heartbeats")
    .option("--drain <seconds>", "how long running steps may take to end after a stop request (default: 10)")
    .option("--build-id <id>", "the id of this build, for Temporal's worker versioning")
    .option("--deployment <name>", "the deployment of this build (default: holdfast)")
    .option("--versioning <behavior>", "pinned (runs stay with their version) or auto-upgrade (default)")
    .option(...WORKER_SANDBOX_OPTION)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast worker
  $ holdfast worker --address temporal.example.com:7233 --namespace agents --task-queue builds
  $ holdfast worker --tools ./tools.js
  $ holdfast worker --build-id 2026-11-22.1 --versioning pinned

The first Ctrl-C or SIGTERM drains the worker, the second releases its running steps immediately, the third ends it.
Exit codes: 0 after a drain, 1 if the worker failed or could not start, 130 or 143 if the third signal ended it.`,
    )
    .action(async (flags: Flags) => runAction((context) => runWorker(context, flags)));
}

async function runWorker(context: Context, flags: Flags): Promise<number> {
  const { options, streams } = context;
  checkVersioning(flags);
  const [sandbox] = await Promise.all([chooseWorkerSandbox(context, flags), checkBeforeWorker(context)]);
  const address = getConfiguredAddress(context) ?? (await findLocalServer(context));
  const log = new StringDecoder("utf8");
  const child = spawnWorker(
    {
      ...options,
      address,
      tools: flags.tools?.map((file) => resolve(file)),
      deadWorkerDetection: flags.deadWorkerDetection,
      drain: parseDrain(flags.drain),
      buildId: flags.buildId,
      deployment: flags.deployment,
      versioning: flags.versioning,
      sandbox,
    },
    { env: streams.env, onLog: (chunk) => print(streams.stderr, log.write(chunk)) },
  );
  let signalCount = 0;
  const end = (signal: NodeJS.Signals) => (): void => {
    signalCount += 1;
    if (signalCount === 1)
      context.report(context.err.dim("Draining. Press Ctrl-C again to release running steps immediately."));
    child.process.kill(signal);
  };
  const [drain, terminate] = [end("SIGINT"), end("SIGTERM")];
  streams.signals.on("SIGINT", drain);
  streams.signals.on("SIGTERM", terminate);
  try {
    const ready = await child.ready;
    if (ready !== undefined) {
      if (context.json) context.printJson(ready);
      else context.print(`worker ready, pid ${ready.pid}, task queue ${ready.taskQueue} at ${ready.address}`);
    }
    const { code } = await child.ended;
    print(streams.stderr, log.end());
    return code ?? EXIT.failed;
  } finally {
    streams.signals.off("SIGINT", drain);
    streams.signals.off("SIGTERM", terminate);
  }
}

function checkVersioning({ buildId, deployment, versioning }: Flags): void {
  try {
    createVersioning({ buildId, deployment, behavior: versioning }, NAMES);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function parseDrain(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return `${parseSeconds("--drain", text) / 1000}`;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
