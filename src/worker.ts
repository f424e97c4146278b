import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection, Runtime, Worker, type WorkerOptions } from "@temporalio/worker";
import { Conversations } from "./activities/conversations.ts";
import { Definitions } from "./activities/definitions.ts";
import { createActivities } from "./activities/index.ts";
import { type Encryption, encryptionOf } from "./codec/encryption.ts";
import { SealingCodec } from "./codec/sealing-codec.ts";
import { identityWith } from "./codec/worker-keys.ts";
import { databaseUrl } from "./config/database.ts";
import { DEFAULT_TASK_QUEUE, homeAt } from "./config/home.ts";
import { drainMsFrom, secondsFrom, versioningFrom, versioningOf } from "./config/worker-environment.ts";
import { BUILT_IN_STRATEGIES } from "./hooks/compaction-strategy.ts";
import { BUILT_IN_EVALUATIONS } from "./hooks/evaluation-strategy.ts";
import { FilterRegistry } from "./hooks/filters.ts";
import { Named } from "./hooks/named.ts";
import { BUILT_IN_REDUCERS } from "./hooks/reducer.ts";
import { HookRegistry } from "./hooks/registry.ts";
import { createLogger, type Logger } from "./observability/log.ts";
import { Governor } from "./providers/governor/governor.ts";
import { ProviderRegistry } from "./providers/registry.ts";
import { thisProcess } from "./recovery/process-identity.ts";
import type { Takeover, WorkflowService } from "./recovery/takeover.ts";
import { watchSiblings } from "./recovery/watch.ts";
import { openHub } from "./stream/open-hub.ts";
import type { StreamHub } from "./stream/stream.ts";
import { ToolSources } from "./tools/outside/sources.ts";
import { ToolRegistry } from "./tools/registry.ts";
import { openTranscript } from "./transcript/open-transcript.ts";
import type { Transcript } from "./transcript/transcript.ts";
import { credentialsOf } from "./worker/credentials.ts";
import { deploymentOptions } from "./worker/deployment.ts";
import { Drain } from "./worker/drain.ts";
import { endOnSignals } from "./worker/end-on-signals.ts";
import { limitsOf } from "./worker/limits.ts";
import type { HoldfastWorker, HoldfastWorkerOptions } from "./worker/options.ts";
import { loadTools, sourcesOf, toolsOf } from "./worker/tools.ts";

export type { Versioning } from "./config/worker-environment.ts";
export type { HookAnswer } from "./hooks/answer.ts";
export type { CompactionRequest, CompactionStrategy } from "./hooks/compaction-strategy.ts";
export type { ContextConverter, ContextFacts, ContextTransform } from "./hooks/context-functions.ts";
export type {
  EvaluatedResponse,
  EvaluationAsked,
  EvaluationChoice,
  EvaluationStrategyFunction,
} from "./hooks/evaluation-strategy.ts";
export type { FilterResult, InputFilter } from "./hooks/filters.ts";
export type { HookContexts } from "./hooks/hook-point.ts";
export type { Reducer, ReducerPart } from "./hooks/reducer.ts";
export type { HookFunction, HookFunctions, HookPolicy } from "./hooks/registry.ts";
export type { ModelDelta, ModelRequest, Provider, StreamOptions } from "./providers/provider.ts";
export { ProviderError, type ProviderFault } from "./providers/provider-error.ts";
export type { HookPoint } from "./schema/hooks.ts";
export type { DefaultToolOptions } from "./tools/default-tools.ts";
export {
  OutsideError,
  type PinContext,
  type PinnedPart,
  type ToolSource,
} from "./tools/outside/source.ts";
export { defineTool } from "./tools/tool.ts";
export type { HoldfastWorker, HoldfastWorkerOptions } from "./worker/options.ts";

/**
 * How long a workflow task waits for the worker that has its run in memory. Half of the SDK's default: a host that
 * is gone costs this and a heartbeat time-out (docs/decisions).
 */
const STICKY_TIMEOUT = "5 seconds";

/** Activities wait more than they compute. */
const ACTIVITY_SLOTS = 500;

/** What a model stream or a tool may still take when the worker is asked to end. */
const DRAIN_MS = 10_000;

/** How soon an end is noticed that nobody has told us of: the SDK listens to signals of its own. */
const LOOK_MS = 200;

/** What Holdfast asks of Temporal's worker; benchmarks give the same to the one that they compare with. */
export const WORKER_SETTINGS = {
  maxHeartbeatThrottleInterval: "1 second",
  stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT,
  maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS,
  maxConcurrentLocalActivityExecutions: ACTIVITY_SLOTS,
  shutdownGraceTime: DRAIN_MS,
} satisfies Partial<WorkerOptions>;

/**
 * Puts a worker together: transcript, live output, vendors, tools, activities, workflows. It is signed in when this
 * resolves, and asks for work as soon as it runs.
 */
export async function createWorker(options: HoldfastWorkerOptions = {}): Promise<HoldfastWorker> {
  const log = options.log ?? createLogger(process.env["HOLDFAST_LOG"] ?? "warn");
  const config = readConfig();
  const encryption = encryptionOf(options.encryption);
  const address = options.address ?? config.connectionOptions.address ?? "localhost:7233";
  const namespace = options.namespace ?? config.namespace ?? "default";
  const taskQueue = options.taskQueue ?? DEFAULT_TASK_QUEUE;
  const connection = await NativeConnection.connect({
    ...config.connectionOptions,
    ...options.connection,
    address,
  });
  const opened: (() => Promise<void>)[] = [() => connection.close()];
  const closeOwn = async () => {
    for (const close of opened.reverse()) await close();
  };
  try {
    await connection.workflowService.describeNamespace({ namespace });
    const home = homeAt(options.home);
    const database = databaseUrl(options.database);
    const place = { path: home.transcript, database, encryption: options.encryption };
    const transcript = options.transcript ?? (await openTranscript(place));
    if (options.transcript === undefined) opened.push(() => transcript.close());
    const hub = options.hub ?? openHub({ folder: home.folder, database, encryption: options.encryption });
    if (options.hub === undefined) opened.push(() => hub.close());
    return await assemble(options, {
      connection,
      address,
      namespace,
      taskQueue,
      transcript,
      hub,
      log,
      encryption,
      closeOwn,
    });
  } catch (error) {
    await closeOwn();
    throw error;
  }
}

/** An empty `TEMPORAL_CONFIG_FILE` names no file; Temporal's own reader stumbles over it. */
function readConfig(): ReturnType<typeof loadClientConnectConfig> {
  return loadClientConnectConfig({ disableFile: process.env["TEMPORAL_CONFIG_FILE"] === "" });
}

type Parts = {
  readonly connection: NativeConnection;
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly transcript: Transcript;
  readonly hub: StreamHub;
  readonly log: Logger;
  readonly encryption: Encryption;
  readonly closeOwn: () => Promise<void>;
};

async function assemble(options: HoldfastWorkerOptions, parts: Parts): Promise<HoldfastWorker> {
  const { connection, address, namespace, taskQueue, transcript, hub, log, encryption, closeOwn } = parts;
  const self = thisProcess({ namespace, taskQueue });
  const adapters = ProviderRegistry.default();
  for (const provider of options.providers ?? []) adapters.register(provider);
  const governor = new Governor({ limits: limitsOf(options.limits, process.env) });
  const providers = adapters.through((provider) => governor.govern(provider));
  const filters = new FilterRegistry();
  for (const [name, filter] of Object.entries(options.filters ?? {})) filters.register(name, filter);
  const hooks = new HookRegistry();
  for (const [name, { policy, ...functions }] of Object.entries(options.hooks ?? {})) {
    hooks.register(name, functions, policy);
  }
  const takeover: Takeover = {
    service: connection.workflowService as unknown as WorkflowService,
    within: (ms, call) => connection.withDeadline(Date.now() + ms, call),
    identity: self.id,
  };
  const secrets = options.secrets ?? credentialsOf(options.credentials, process.env, log);
  const sources = new ToolSources(sourcesOf(options, { secrets, log }));
  const watch =
    options.recognition === false ? undefined : await watchSiblings(self, transcript, takeover, log);
  const drainMs = options.drainMs ?? drainMsFrom(process.env) ?? DRAIN_MS;
  const drain = new Drain(drainMs, log);
  const { interceptors, ...temporal } = options.temporal ?? {};
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: { codePath: built("workflow-bundle.js") },
    dataConverter: {
      payloadCodecs: [new SealingCodec(encryption)],
      ...(encryption.payloads ? { failureConverterPath: built("codec/failure-converter.js") } : {}),
    },
    activities: createActivities({
      transcript,
      hub,
      providers,
      tools: new ToolRegistry(toolsOf(options), sources),
      filters,
      hooks,
      transforms: new Named("context transform", options.transforms),
      converters: new Named("context converter", options.converters),
      compactions: new Named("compaction strategy", options.compactions, BUILT_IN_STRATEGIES),
      reducers: new Named("reducer", options.reducers, Object.keys(BUILT_IN_REDUCERS)),
      evaluations: new Named("evaluation strategy", options.evaluationStrategies, BUILT_IN_EVALUATIONS),
      secrets,
      definitions: new Definitions(transcript),
      conversations: new Conversations(transcript),
      process: self.id,
      defaultWorkspace: options.defaultWorkspace ?? process.cwd(),
      log,
    }),
    identity: identityWith(self.id, encryption),
    ...WORKER_SETTINGS,
    shutdownGraceTime: drainMs,
    ...deploymentOptions(options.versioning ?? versioningFrom(process.env)),
    ...temporal,
    interceptors: { ...interceptors, activity: [drain.interceptor, ...(interceptors?.activity ?? [])] },
  }).catch(async (error) => {
    await watch?.stop();
    throw error;
  });
  return {
    id: self.id,
    address,
    namespace,
    taskQueue,
    run: async () => {
      const look = setInterval(() => {
        if (worker.getState() !== "RUNNING") drain.begin();
      }, LOOK_MS);
      try {
        await worker.run();
      } finally {
        clearInterval(look);
        drain.end();
        await watch?.stop();
        await sources.close();
        await closeOwn();
      }
    },
    shutdown: () => {
      if (worker.getState() !== "RUNNING") return drain.hurry();
      worker.shutdown();
      drain.begin();
    },
  };
}

/** A file that the build has made; from the sources, the one in dist. */
function built(file: string): string {
  const folder = import.meta.url.endsWith(".ts") ? "../dist/" : "./";
  return fileURLToPath(new URL(`${folder}${file}`, import.meta.url));
}

/** How long a process of which nothing is asked any more may take to end by itself. */
const LEAVE_MS = 500;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      home: { type: "string" },
      address: { type: "string" },
      namespace: { type: "string" },
      "task-queue": { type: "string" },
      tools: { type: "string", multiple: true },
      "no-recognition": { type: "boolean" },
      drain: { type: "string" },
      "build-id": { type: "string" },
      deployment: { type: "string" },
      versioning: { type: "string" },
    },
  });
  const log = createLogger(process.env["HOLDFAST_LOG"] ?? "warn");
  const versioning = versioningOf(
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
    ...(values.home === undefined ? {} : { home: values.home }),
    ...(values.address === undefined ? {} : { address: values.address }),
    ...(values.namespace === undefined ? {} : { namespace: values.namespace }),
    ...(values["task-queue"] === undefined ? {} : { taskQueue: values["task-queue"] }),
    ...(values["no-recognition"] === true ? { recognition: false } : {}),
    ...(values.drain === undefined ? {} : { drainMs: secondsFrom("--drain", values.drain) }),
    ...(versioning === undefined ? {} : { versioning }),
    tools,
    log,
  });
  const running = worker.run();
  endOnSignals(worker);
  const { id, address, namespace, taskQueue } = worker;
  process.stdout.write(
    `${JSON.stringify({ type: "ready", id, address, namespace, taskQueue, pid: process.pid })}\n`,
  );
  await running;
  // What was handed back in haste may still be at work in here.
  setTimeout(() => process.exit(), LEAVE_MS).unref();
}

const started = process.argv[1];
if (started !== undefined && realpathSync(started) === fileURLToPath(import.meta.url)) {
  main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
