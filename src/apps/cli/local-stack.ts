import { join } from "node:path";
import { connect } from "../../client/connection/connect.ts";
import { HoldfastError } from "../../client/holdfast-error.ts";
import type { Holdfast } from "../../client/index.ts";
import { resolveHome } from "../../config/home.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { SandboxMode } from "../../schema/sandbox.ts";
import { findLocalServer, getConfiguredAddress } from "./connection.ts";
import type { Context } from "./context.ts";
import { describeLogProblem, LogFile, type LogProblem } from "./log-file.ts";
import { describeServerEvent, type ServerEvent, ServerSupervisor } from "./server-supervisor.ts";
import { checkBeforeWorker, makeFolder, prepareHome } from "./start-checks.ts";
import { spawnWorker } from "./worker-child.ts";
import { chooseWorkerSandbox, type SandboxNeed } from "./worker-sandbox.ts";
import { type WorkerEvent, WorkerSupervisor } from "./worker-supervisor.ts";

/** The server and the worker that a run needs. Those that were started for the run end with it. */
export type LocalStack = {
  readonly holdfast: Holdfast;
  /** What this command started: a detached run would lose it. */
  readonly started: readonly ("server" | "worker")[];
  readonly uiUrl?: string | undefined;
  close(): Promise<void>;
};

/** What the agents of a command need of a worker. */
export type WorkerNeed = SandboxNeed & {
  /** Modules that export tools. */
  readonly tools?: readonly string[];
};

/**
 * Uses the running server and worker, and starts what is missing. Starts no server if one is configured.
 *
 * @param need - What a worker that is started here must be able to do.
 */
export async function openStack(context: Context, need: WorkerNeed): Promise<LocalStack> {
  const { options } = context;
  const configured = getConfiguredAddress(context);
  const running = configured ?? (await findLocalServer(context));
  if (running === undefined)
    context.report(context.err.dim("No Temporal server responds; starting one for this run …"));
  const { tools } = need;
  // Without a server there is no worker either: the host is probed while the server starts.
  const early = running === undefined ? chooseWorkerSandbox(context, need) : undefined;
  early?.catch(() => undefined);
  const reportEvent = (event: StackEvent) => {
    if (event.type !== "worker-ready") context.report(context.err.yellow(describeStackEvent(event)));
  };
  const servers =
    running === undefined
      ? await ServerSupervisor.start(
          {
            dataDir: (await prepareHome(context)).server,
            ...omitUndefined({ namespace: options.namespace }),
          },
          reportEvent,
        )
      : undefined;
  const server = servers?.server;
  const address = server?.address ?? running!;
  let keeper: WorkerSupervisor | undefined;
  let holdfast: Holdfast | undefined;
  const close = async (): Promise<void> => {
    await holdfast?.close();
    await keeper?.stop();
    await servers?.stop();
  };
  try {
    holdfast = await connect({ ...context.connectOptions(), address });
    if (configured === undefined) await holdfast.health({ register: true });
    if (!(await isPolled(holdfast))) {
      context.report(context.err.dim(`No worker polls "${holdfast.taskQueue}"; starting one for this run …`));
      const [sandbox] = await Promise.all([
        early ?? chooseWorkerSandbox(context, need),
        server === undefined ? checkBeforeWorker(context) : undefined,
      ]);
      const { address, namespace, taskQueue } = holdfast;
      keeper = await startWorker(context, { address, namespace, taskQueue, tools, sandbox }, reportEvent);
    }
  } catch (error) {
    await close();
    throw error;
  }
  const own = [
    ...(server === undefined || server.alreadyRunning ? [] : (["server"] as const)),
    ...(keeper === undefined ? [] : (["worker"] as const)),
  ];
  return { holdfast, started: own, uiUrl: server?.uiUrl, close };
}

async function isPolled(holdfast: Holdfast): Promise<boolean> {
  const { pollers } = await holdfast.health();
  return "workflow" in pollers && pollers.workflow > 0;
}

/** Starts a worker process and waits until it polls. Its log goes to a file in the home folder. */
export async function startWorker(
  context: Context,
  target: {
    readonly address: string;
    readonly namespace: string;
    readonly taskQueue: string;
    /** By default the database of the command line. */
    readonly database?: string | undefined;
    /** Modules that export a tool or a list of tools by default. */
    readonly tools?: readonly string[] | undefined;
    readonly sandbox?: SandboxMode | undefined;
  },
  tell: (event: StackEvent) => void,
): Promise<WorkerSupervisor> {
  const { options, streams } = context;
  const home = resolveHome(options.home);
  try {
    makeFolder(home.folder);
  } catch {
    // With a database, the folder is only for the log, and `LogFile` reports that it cannot write.
  }
  const logFile = join(home.folder, "worker.log");
  const log = new LogFile(logFile, tell);
  const { address, namespace, taskQueue, tools, sandbox, database = options.database } = target;
  let tail = "";
  const keeper = new WorkerSupervisor(
    () =>
      spawnWorker(
        {
          home: home.folder,
          database,
          address,
          namespace,
          taskQueue,
          tools,
          sandbox,
          profile: options.profile,
        },
        {
          env: streams.env,
          onLog: (chunk) => {
            tail = (tail + chunk.toString()).slice(-1_000);
            log.write(chunk);
          },
        },
      ),
    tell,
  );
  if ((await keeper.start()) !== undefined) return keeper;
  await keeper.stop();
  throw new HoldfastError(
    "no-worker",
    `The worker does not start; its log is ${logFile}. The end of the log: ${tail.trim() || "empty"}`,
    { address, namespace, taskQueue },
  );
}

/** An event of the server and the worker that a command started. */
export type StackEvent = WorkerEvent | ServerEvent | LogProblem;

export function describeStackEvent(event: StackEvent): string {
  switch (event.type) {
    case "worker-ready":
      return `worker ready (pid ${event.ready.pid})`;
    case "worker-died":
      return describeDeath(event);
    case "log-failed":
    case "log-restored":
      return describeLogProblem(event);
    default:
      return describeServerEvent(event);
  }
}

function describeDeath(event: Extract<WorkerEvent, { type: "worker-died" }>): string {
  const { end, restartInMs } = event;
  const ending = end.signal === null ? `with code ${end.code}` : `by ${end.signal}`;
  const when = restartInMs === 0 ? "immediately" : `in ${restartInMs / 1000} s`;
  return `the worker ended ${ending}; starting another ${when}`;
}
