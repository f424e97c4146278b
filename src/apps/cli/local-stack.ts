import { join } from "node:path";
import { connect, type Holdfast, HoldfastError } from "../../client/index.ts";
import { homeAt } from "../../config/home.ts";
import { localServer, namedAddress } from "./connection.ts";
import type { Context } from "./context.ts";
import { describeLogTrouble, LogFile, type LogTrouble } from "./log-file.ts";
import { describeServerEvent, type ServerEvent, ServerKeeper } from "./server-keeper.ts";
import { checkBeforeWorker, makeFolder, prepareHome } from "./start-checks.ts";
import { spawnWorker } from "./worker-child.ts";
import { type KeeperEvent, WorkerKeeper } from "./worker-keeper.ts";

/** What a run needs: a server and a worker that polls. What was started for it ends with it. */
export type Stack = {
  readonly holdfast: Holdfast;
  /** Started here: a detached run would be left without them. */
  readonly own: readonly ("server" | "worker")[];
  readonly uiUrl?: string | undefined;
  close(): Promise<void>;
};

/** Uses what is there; starts what is missing, unless a server was named. */
export async function openStack(context: Context): Promise<Stack> {
  const { options } = context;
  const named = namedAddress(context);
  const running = named ?? (await localServer(context));
  if (running === undefined)
    context.tell(context.err.dim("No Temporal server answers; starting one for this run …"));
  const tell = (event: StackEvent) => {
    if (event.type !== "worker-ready") context.tell(context.err.yellow(describeStackEvent(event)));
  };
  const servers =
    running === undefined
      ? await ServerKeeper.start(
          {
            dataDir: (await prepareHome(context)).server,
            ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
          },
          tell,
        )
      : undefined;
  const server = servers?.server;
  const address = server?.address ?? running!;
  let keeper: WorkerKeeper | undefined;
  let holdfast: Holdfast | undefined;
  const close = async (): Promise<void> => {
    await holdfast?.close();
    await keeper?.stop();
    await servers?.stop();
  };
  try {
    holdfast = await connect({ ...context.connectOptions(), address });
    if (named === undefined) await holdfast.health({ register: true });
    if (!(await isPolled(holdfast))) {
      context.tell(context.err.dim(`No worker polls "${holdfast.taskQueue}"; starting one for this run …`));
      if (server === undefined) await checkBeforeWorker(context);
      keeper = await startWorker(context, holdfast, tell);
    }
  } catch (error) {
    await close();
    throw error;
  }
  const own = [
    ...(server === undefined || server.alreadyRunning ? [] : (["server"] as const)),
    ...(keeper === undefined ? [] : (["worker"] as const)),
  ];
  return { holdfast, own, uiUrl: server?.uiUrl, close };
}

async function isPolled(holdfast: Holdfast): Promise<boolean> {
  const { pollers } = await holdfast.health();
  return "workflow" in pollers && pollers.workflow > 0;
}

/** Starts a worker beside us and waits until it polls. Its log goes to a file of the home folder. */
export async function startWorker(
  context: Context,
  target: {
    readonly address: string;
    readonly namespace: string;
    readonly taskQueue: string;
    /** Else as the command line has it. */
    readonly database?: string | undefined;
  },
  tell: (event: StackEvent) => void,
): Promise<WorkerKeeper> {
  const { options, streams } = context;
  const home = homeAt(options.home);
  try {
    makeFolder(home.folder);
  } catch {
    // With a database it is there for the log alone, which says so itself.
  }
  const logFile = join(home.folder, "worker.log");
  const log = new LogFile(logFile, tell);
  const { address, namespace, taskQueue, database = options.database } = target;
  let tail = "";
  const keeper = new WorkerKeeper(
    () =>
      spawnWorker(
        { home: home.folder, database, address, namespace, taskQueue, profile: options.profile },
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
    `The worker does not start; its log is ${logFile}. Its last words: ${tail.trim() || "none"}`,
    { address, namespace, taskQueue },
  );
}

/** What happens to the server and the worker that a command has started. */
export type StackEvent = KeeperEvent | ServerEvent | LogTrouble;

export function describeStackEvent(event: StackEvent): string {
  switch (event.type) {
    case "worker-ready":
      return `worker ready (pid ${event.ready.pid})`;
    case "worker-died":
      return describeDeath(event);
    case "log-lost":
    case "log-written-again":
      return describeLogTrouble(event);
    default:
      return describeServerEvent(event);
  }
}

function describeDeath(event: Extract<KeeperEvent, { type: "worker-died" }>): string {
  const { end, restartInMs } = event;
  const how = end.signal === null ? `with code ${end.code}` : `by ${end.signal}`;
  const when = restartInMs === 0 ? "at once" : `in ${restartInMs / 1000} s`;
  return `the worker ended ${how}; starting another ${when}`;
}
