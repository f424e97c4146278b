import { createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { connect, type Holdfast, HoldfastError } from "../client/index.ts";
import { type Home, homeAt } from "../config/home.ts";
import { startDevServer } from "../devserver/start-server.ts";
import { localServer, namedAddress } from "./connection.ts";
import type { Context } from "./context.ts";
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
  const server =
    running === undefined
      ? await startDevServer({
          dataDir: makeHome(options.home).server,
          ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
        })
      : undefined;
  const address = server?.address ?? running!;
  let keeper: WorkerKeeper | undefined;
  let holdfast: Holdfast | undefined;
  const close = async (): Promise<void> => {
    await holdfast?.close();
    await keeper?.stop();
    await server?.stop();
  };
  try {
    holdfast = await connect({ ...context.connectOptions(), address });
    if (named === undefined) await holdfast.health({ register: true });
    if (!(await isPolled(holdfast))) {
      context.tell(context.err.dim(`No worker polls "${holdfast.taskQueue}"; starting one for this run …`));
      keeper = await startWorker(context, holdfast, (event) => {
        if (event.type === "worker-died") context.tell(context.err.yellow(describeKeeperEvent(event)));
      });
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

/** The home folder, for its owner alone, whoever needs it first. */
export function makeHome(folder: string | undefined): Home {
  const home = homeAt(folder);
  mkdirSync(home.folder, { recursive: true, mode: 0o700 });
  return home;
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
  tell: (event: KeeperEvent) => void,
): Promise<WorkerKeeper> {
  const { options, streams } = context;
  const home = makeHome(options.home);
  const logFile = join(home.folder, "worker.log");
  const log = createWriteStream(logFile, { flags: "a", mode: 0o600 });
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

export function describeKeeperEvent(event: KeeperEvent): string {
  if (event.type === "worker-ready") return `worker ready (pid ${event.ready.pid})`;
  const { end, restartInMs } = event;
  const how = end.signal === null ? `with code ${end.code}` : `by ${end.signal}`;
  const when = restartInMs === 0 ? "at once" : `in ${restartInMs / 1000} s`;
  return `the worker ended ${how}; starting another ${when}`;
}
