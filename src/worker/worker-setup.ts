import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { ApplicationFailure } from "@temporalio/common";
import type {
  ActivityInterceptorsFactory,
  NativeConnection,
  ReplayWorkerOptions,
  Worker,
  WorkerOptions,
} from "@temporalio/worker";
import { checkDefinition } from "../config/check-definition.ts";
import { readRedactContent } from "../config/redact-content.ts";
import { ACTIVITY_NAMES } from "../core/machine/activity-names.ts";
import { addKeysToIdentity } from "../platform/encryption/worker-keys.ts";
import type { AgentDefinition } from "../schema/definition.ts";
import { type AgentHost, openAgentHost, prepareAgentHost, runWithDrain } from "./agent-host.ts";
import { resolveBuiltFile } from "./built-file.ts";
import { checkSearchAttributes } from "./check-attributes.ts";
import { ENCRYPTING_FAILURE_CONVERTER, MERGED_MARK } from "./merge-workflows.ts";
import type { HoldfastPluginOptions } from "./plugin.ts";
import { WORKER_SETTINGS } from "./settings.ts";

// What the plugin adds to a worker of an application.
//
// Invariants
//   I1. The worker's own activities, workflows and settings stay as they are: Holdfast adds names that are free, and
//       settings that are not set. Its interceptors see only its own activities.
//   I2. Nothing is open before the worker runs, and what was opened is closed when the worker has ended.
//   I3. There is no `default` activity of Holdfast: an unknown activity type fails as in any other worker.

const STATE_INTERVAL_MS = 10;

export type WorkerSetup = {
  readonly options: WorkerOptions;
  /** The function of one of its activities, by which the setup of a worker is found. */
  readonly mark: object;
  /** Opens the stores, runs the worker, and closes what it has opened. */
  readonly run: (worker: Worker, runNext: () => Promise<void>) => Promise<void>;
};

type ActivityFunction = (input: never) => Promise<unknown>;

export async function setUpWorker(
  plugin: HoldfastPluginOptions,
  options: WorkerOptions,
): Promise<WorkerSetup> {
  const { namespace = "default", taskQueue, identity } = options;
  const host = prepareAgentHost(plugin, { namespace, taskQueue, identity });
  const agents = checkAgents(plugin.agents ?? {});
  const toolNames = host.tools.listNames();
  const names = [...ACTIVITY_NAMES, ...toolNames];
  const checkNamespace = async (connection: NativeConnection | undefined) => {
    if (connection === undefined || plugin.searchAttributes === false) return;
    await checkSearchAttributes(connection, namespace, host.log);
  };
  checkActivities(options, names, toolNames);
  checkFailureConverter(host, options);
  await checkNamespace(options.connection);
  let running: Record<string, ActivityFunction> | undefined;
  const activities = Object.fromEntries(
    names.map((name) => [
      name,
      (input: never) => {
        const found = running?.[name] ?? running?.["default"];
        if (found === undefined) throw buildNotOpenFailure(name);
        return found(input);
      },
    ]),
  );
  const settings = {
    ...readRedactContent(process.env),
    ...plugin.settings,
    ...(plugin.searchAttributes === false ? { searchAttributes: false } : {}),
  };
  return {
    mark: activities[ACTIVITY_NAMES[0] as string] as object,
    options: await addWorkflows({
      ...buildSettings(host, options),
      ...options,
      activities: { ...options.activities, ...activities },
      identity: addKeysToIdentity(host.self.id, host.encryption),
      interceptors: {
        ...options.interceptors,
        activity: [
          ...host.interceptors.map((interceptor) => limitToActivities(interceptor, new Set(names))),
          ...(options.interceptors?.activity ?? []),
        ],
      },
      ...(host.encryption.payloads
        ? {
            dataConverter: {
              ...options.dataConverter,
              failureConverterPath: ENCRYPTING_FAILURE_CONVERTER,
            },
          }
        : {}),
    }),
    run: async (worker, runNext) => {
      const { connection } = worker;
      if (connection === undefined) return await runNext();
      const openHost = async () => {
        if (options.connection === undefined) await checkNamespace(connection);
        return await openAgentHost(host, connection, {
          registeredTools: new Set(toolNames),
          agents,
          agentSettings: settings,
        });
      };
      const open = await openHost().catch(async (error) => {
        await endWithoutWork(worker, runNext);
        throw error;
      });
      running = open.activities as unknown as Record<string, ActivityFunction>;
      try {
        await runWithDrain(worker, host.drain, runNext);
      } finally {
        await open.close();
      }
    },
  };
}

/** Ends a worker that cannot begin. A worker that never ran would keep its connection from being closed. */
async function endWithoutWork(worker: Worker, runNext: () => Promise<void>): Promise<void> {
  let isEnded = false;
  const ended = runNext()
    .catch(() => undefined)
    .finally(() => {
      isEnded = true;
    });
  // Plugins of the application may take some time before they run the worker.
  while (!isEnded && worker.getState() === "INITIALIZED") await setTimeout(STATE_INTERVAL_MS);
  if (worker.getState() === "RUNNING") worker.shutdown();
  await ended;
}

/** Gives a step back that arrives while the worker ends because its stores could not be opened. */
function buildNotOpenFailure(name: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: "released",
    message: `The worker could not open its stores, and did not begin ${name}`,
    nonRetryable: true,
  });
}

function checkAgents(agents: NonNullable<HoldfastPluginOptions["agents"]>): Record<string, AgentDefinition> {
  return Object.fromEntries(
    Object.entries(agents).map(([name, input]) => {
      const checked = checkDefinition(input);
      if (checked.ok) return [name, checked.definition];
      throw new TypeError(
        `The agent "${name}" of holdfastPlugin() is not valid: ${checked.problems.join("; ")}`,
      );
    }),
  );
}

/** Refuses names that both have. */
function checkActivities(
  { activities = {} }: WorkerOptions,
  names: readonly string[],
  toolNames: readonly string[],
): void {
  const [taken] = names.filter((name) => Object.hasOwn(activities, name));
  if (taken === undefined) return;
  const what = toolNames.includes(taken) ? "a tool of Holdfast" : "an activity of Holdfast";
  const advice = toolNames.includes(taken)
    ? "Rename one of them; `builtInTools: false` leaves out the built-in tools"
    : "Rename yours";
  throw new TypeError(`This worker has an activity "${taken}", which is also ${what}. ${advice}.`);
}

/** Failures contain messages of vendors and tools: a converter of the application would store them as plain text. */
function checkFailureConverter({ encryption }: AgentHost, { dataConverter }: WorkerOptions): void {
  const path = dataConverter?.failureConverterPath;
  if (!encryption.payloads || path === undefined || path === ENCRYPTING_FAILURE_CONVERTER) return;
  throw new TypeError(
    `Holdfast encrypts payloads, but this worker converts failures with ${path}, which does not encrypt their texts. ` +
      "Remove the failure converter, or encrypt with a codec of your own and pass `encryption: { keys, payloads: false }`.",
  );
}

/** Returns Holdfast's settings for those that the worker does not set. */
function buildSettings(host: AgentHost, { tuner }: WorkerOptions): Partial<WorkerOptions> {
  const { maxConcurrentActivityTaskExecutions, maxConcurrentLocalActivityExecutions, ...rest } =
    WORKER_SETTINGS;
  const slots =
    tuner === undefined ? { maxConcurrentActivityTaskExecutions, maxConcurrentLocalActivityExecutions } : {};
  return { ...rest, ...slots, shutdownGraceTime: host.drainMs };
}

function limitToActivities(
  interceptor: ActivityInterceptorsFactory,
  names: ReadonlySet<string>,
): ActivityInterceptorsFactory {
  return (context) => (names.has(context.info.activityType) ? interceptor(context) : {});
}

/**
 * Gives a worker Holdfast's workflows: bundled with its own ones, or prebuilt where it has none. With `workflowsPath`, the
 * bundler merges them.
 */
export async function addWorkflows<Options extends WorkerOptions | ReplayWorkerOptions>(
  options: Options,
): Promise<Options> {
  const { workflowsPath, workflowBundle } = options;
  if (workflowBundle !== undefined) await checkBundle(workflowBundle);
  else if (workflowsPath === undefined) {
    return { ...options, workflowBundle: { codePath: resolveBuiltFile("workflow-bundle.js") } };
  }
  return options;
}

async function checkBundle(bundle: NonNullable<WorkerOptions["workflowBundle"]>): Promise<void> {
  const path = "codePath" in bundle ? bundle.codePath : undefined;
  const code = "code" in bundle ? bundle.code : await readFile(path as string, "utf8");
  if (code.includes(MERGED_MARK) || path === resolveBuiltFile("workflow-bundle.js")) return;
  throw new TypeError(
    `The workflow bundle${path === undefined ? "" : ` ${path}`} does not contain Holdfast's workflows. Build it with the ` +
      "plugin: `bundleWorkflowCode({ workflowsPath, plugins: [holdfastPlugin()] })`.",
  );
}
