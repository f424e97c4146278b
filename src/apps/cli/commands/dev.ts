import { resolve } from "node:path";
import type { Command } from "commander";
import { connect } from "../../../client/connection/connect.ts";
import { DATABASE_URL } from "../../../config/database-url.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { handleInterrupts, waitForInterrupt } from "../interrupts.ts";
import { describeStackEvent, type StackEvent, startWorker } from "../local-stack.ts";
import { type SandboxFlag, WORKER_SANDBOX_OPTION } from "../sandbox-flag.ts";
import { ServerSupervisor } from "../server-supervisor.ts";
import { prepareHome } from "../start-checks.ts";
import { UsageError } from "../usage-error.ts";
import { chooseWorkerSandbox } from "../worker-sandbox.ts";

type Flags = {
  readonly port?: string;
  readonly uiPort?: string;
  readonly tools?: readonly string[];
} & SandboxFlag;

export function configureDevCommand(command: Command, runAction: RunAction): void {
  command
    .option("--port <n>", "the server's port (default: 7233, or a free one)")
    .option("--ui-port <n>", "the port of Temporal's web UI (default: 8233, or a free one)")
    .option("--tools <file...>", "modules that export a tool or a list of tools by default, for the worker")
    .option(...WORKER_SANDBOX_OPTION)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast dev
  $ holdfast dev --tools ./tools.mjs
  $ holdfast dev --home ./.holdfast --port 7300 --ui-port 8300

A worker that dies is started again, and the runs continue. If a server already runs on this home, the command uses it
and leaves it running.`,
    )
    .action(async (flags: Flags) => runAction((context) => runDevServer(context, flags)));
}

async function runDevServer(context: Context, flags: Flags): Promise<number> {
  const { options, streams } = context;
  if (options.address !== undefined) {
    throw new UsageError(
      "`holdfast dev` starts its own server, so it does not take --address. Choose the port with --port. To run a worker for another server, use `holdfast worker --address`.",
    );
  }
  if (getNonEmpty(options.database) !== undefined) {
    throw new UsageError(
      "`holdfast dev` stores everything in the home folder, so it does not take --database. To run a worker with a database, use `holdfast worker --database`.",
    );
  }
  if (getNonEmpty(streams.env[DATABASE_URL]) !== undefined) {
    const other = "other commands use the database unless you give them --database ''";
    context.report(
      `${DATABASE_URL} is set, but \`holdfast dev\` stores everything in the home folder; ${other}.`,
    );
  }
  // Ctrl-C at the question ends the command, before anything starts.
  const sandbox = await chooseWorkerSandbox(context, flags);
  const stop = waitForInterrupt(streams.signals);
  const ports = {
    ...(flags.port === undefined ? {} : { port: parsePort("--port", flags.port) }),
    ...(flags.uiPort === undefined ? {} : { uiPort: parsePort("--ui-port", flags.uiPort) }),
  };
  const home = await prepareHome(context, EMBEDDED_STORE.database);
  const servers = await ServerSupervisor.start(
    {
      dataDir: home.server,
      ...omitUndefined({ namespace: options.namespace }),
      ...ports,
    },
    (event) => reportEvent(context, event),
  );
  const { server } = servers;
  try {
    const holdfast = await connect({
      ...context.connectOptions(),
      ...EMBEDDED_STORE,
      address: server.address,
    });
    const { taskQueue } = holdfast;
    await holdfast.health({ register: true });
    await holdfast.close();
    const { address, namespace, uiUrl, logFile, alreadyRunning } = server;
    reportEvent(context, {
      type: "server",
      address,
      namespace,
      uiUrl,
      logFile,
      alreadyRunning,
      home: home.folder,
    });
    const tools = flags.tools?.map((file) => resolve(file));
    const keeper = await startWorker(
      context,
      { ...EMBEDDED_STORE, address, namespace, taskQueue, tools, sandbox },
      (event) => reportEvent(context, event),
    );
    try {
      if (!context.json) context.report(context.err.dim("Press Ctrl-C to stop both."));
      await stop;
      if (!context.json)
        context.report(
          context.err.dim(
            "\nStopping the worker after its running steps. Press Ctrl-C to release them immediately.",
          ),
        );
    } finally {
      const hurry = (): void => keeper.skipRestartDelay();
      const off = handleInterrupts(streams.signals, hurry, hurry);
      await keeper.stop();
      off();
    }
  } finally {
    await servers.stop();
  }
  reportEvent(context, { type: "ended" });
  return EXIT.ok;
}

/** The embedded store, whatever the environment specifies. */
const EMBEDDED_STORE = { database: "" } as const;

function getNonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value;
}

type DevEvent =
  | {
      readonly type: "server";
      readonly address: string;
      readonly namespace: string;
      readonly uiUrl: string | undefined;
      readonly logFile: string | undefined;
      readonly alreadyRunning: boolean;
      readonly home: string;
    }
  | StackEvent
  | { readonly type: "ended" };

function reportEvent(context: Context, event: DevEvent): void {
  if (context.json) {
    context.printJson(event);
    return;
  }
  const { out } = context;
  const printRow = (name: string, value: string) => context.print(`${out.bold(name.padEnd(9))} ${value}`);
  switch (event.type) {
    case "server":
      printRow(
        "server",
        `${event.address} (namespace ${event.namespace})${event.alreadyRunning ? ", already running" : ""}`,
      );
      printRow("UI", event.uiUrl ?? "unknown: this command did not start the server");
      printRow("home", event.home);
      break;
    case "worker-ready":
      printRow("worker", `ready, pid ${event.ready.pid}, task queue ${event.ready.taskQueue}`);
      break;
    case "ended":
      break;
    default:
      context.report(context.err.yellow(describeStackEvent(event)));
  }
}

function parsePort(flag: string, text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new UsageError(`${flag} "${text}" must be a port between 1 and 65535`);
}
