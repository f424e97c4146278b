import type { Command } from "commander";
import { connect } from "../../../client/index.ts";
import { DATABASE_URL } from "../../../config/database.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { interrupted, onInterrupts } from "../interrupts.ts";
import { describeStackEvent, type StackEvent, startWorker } from "../local-stack.ts";
import { ServerKeeper } from "../server-keeper.ts";
import { prepareHome } from "../start-checks.ts";
import { UsageError } from "../usage-error.ts";

type Flags = { readonly port?: string; readonly uiPort?: string };

export function devCommand(
  program: Command,
  act: (work: (context: Context) => Promise<number>) => Promise<void>,
): void {
  program
    .command("dev")
    .description("Run a Temporal server and a worker on this machine, until Ctrl-C")
    .option("--port <n>", "the server's port (default: 7233, or a free one)")
    .option("--ui-port <n>", "the port of Temporal's web UI (default: 8233, or a free one)")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast dev
  $ holdfast dev --home ./.holdfast --port 7300 --ui-port 8300

A server that is running already on this home is used, and left running.`,
    )
    .action(async (flags: Flags) => act((context) => dev(context, flags)));
}

async function dev(context: Context, flags: Flags): Promise<number> {
  const { options, streams } = context;
  if (options.address !== undefined) {
    throw new UsageError(
      "`holdfast dev` starts a server of its own: choose its port with --port. For a worker of another server there is `holdfast worker --address`.",
    );
  }
  if (said(options.database) !== undefined) {
    throw new UsageError(
      "`holdfast dev` keeps everything in the home folder. For a worker with a database there is `holdfast worker --database`.",
    );
  }
  if (said(streams.env[DATABASE_URL]) !== undefined) {
    const other = "other commands look there, unless they are told --database ''";
    context.tell(
      `${DATABASE_URL} is set, but \`holdfast dev\` keeps everything in the home folder; ${other}.`,
    );
  }
  const stop = interrupted(streams.signals);
  const ports = {
    ...(flags.port === undefined ? {} : { port: portFrom("--port", flags.port) }),
    ...(flags.uiPort === undefined ? {} : { uiPort: portFrom("--ui-port", flags.uiPort) }),
  };
  const home = await prepareHome(context, EMBEDDED.database);
  const servers = await ServerKeeper.start(
    {
      dataDir: home.server,
      ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
      ...ports,
    },
    (event) => say(context, event),
  );
  const { server } = servers;
  try {
    const holdfast = await connect({ ...context.connectOptions(), ...EMBEDDED, address: server.address });
    const { taskQueue } = holdfast;
    await holdfast.health({ register: true });
    await holdfast.close();
    const { address, namespace, uiUrl, logFile, alreadyRunning } = server;
    say(context, { type: "server", address, namespace, uiUrl, logFile, alreadyRunning, home: home.folder });
    const keeper = await startWorker(context, { ...EMBEDDED, address, namespace, taskQueue }, (event) =>
      say(context, event),
    );
    try {
      if (!context.json) context.tell(context.err.dim("Ctrl-C ends both."));
      await stop;
      if (!context.json)
        context.tell(
          context.err.dim(
            "\nEnding the worker; what runs is given a little time. Ctrl-C hands it back at once.",
          ),
        );
    } finally {
      const hurry = (): void => keeper.hurry();
      const off = onInterrupts(streams.signals, hurry, hurry);
      await keeper.stop();
      off();
    }
  } finally {
    await servers.stop();
  }
  say(context, { type: "ended" });
  return EXIT.ok;
}

/** Whatever the environment says. */
const EMBEDDED = { database: "" } as const;

function said(word: string | undefined): string | undefined {
  return word === undefined || word.trim() === "" ? undefined : word;
}

type Happening =
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

function say(context: Context, happening: Happening): void {
  if (context.json) {
    context.printJson(happening);
    return;
  }
  const { out } = context;
  const row = (name: string, value: string) => context.print(`${out.bold(name.padEnd(9))} ${value}`);
  switch (happening.type) {
    case "server":
      row(
        "server",
        `${happening.address} (namespace ${happening.namespace})${happening.alreadyRunning ? ", was running" : ""}`,
      );
      row("UI", happening.uiUrl ?? "not known: the server was not started here");
      row("home", happening.home);
      break;
    case "worker-ready":
      row("worker", `ready, pid ${happening.ready.pid}, task queue ${happening.ready.taskQueue}`);
      break;
    case "ended":
      break;
    default:
      context.tell(context.err.yellow(describeStackEvent(happening)));
  }
}

function portFrom(flag: string, text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new UsageError(`${flag} "${text}" must be a port between 1 and 65535`);
}
