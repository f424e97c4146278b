import { fileURLToPath } from "node:url";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection, Worker } from "@temporalio/worker";
import { Conversations } from "../activities/conversations.ts";
import { Definitions } from "../activities/definitions.ts";
import { createActivities } from "../activities/index.ts";
import { patientTranscript } from "../activities/patient-transcript.ts";
import { type Encryption, encryptionOf } from "../codec/encryption.ts";
import { SealingCodec } from "../codec/sealing-codec.ts";
import { identityWith } from "../codec/worker-keys.ts";
import { databaseUrl } from "../config/database.ts";
import { DEFAULT_TASK_QUEUE, homeAt } from "../config/home.ts";
import { drainMsFrom, versioningFrom } from "../config/worker-environment.ts";
import { BUILT_IN_EVALUATIONS } from "../hooks/evaluation-strategy.ts";
import { FilterRegistry } from "../hooks/filters.ts";
import { Named } from "../hooks/named.ts";
import { BUILT_IN_REDUCERS } from "../hooks/reducer.ts";
import { HookRegistry } from "../hooks/registry.ts";
import { createLogger, type Logger } from "../observability/log.ts";
import { Governor } from "../providers/governor/governor.ts";
import { Outages } from "../providers/outages.ts";
import { ProviderRegistry } from "../providers/registry.ts";
import { thisProcess } from "../recovery/process-identity.ts";
import type { Takeover, WorkflowService } from "../recovery/takeover.ts";
import { watchSiblings } from "../recovery/watch.ts";
import { BUILT_IN_STRATEGIES } from "../schema/context.ts";
import { openHub } from "../stream/open-hub.ts";
import type { StreamHub } from "../stream/stream.ts";
import { ToolSources } from "../tools/outside/sources.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { openTranscript } from "../transcript/open-transcript.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { credentialsOf } from "./credentials.ts";
import { deploymentOptions } from "./deployment.ts";
import { Drain } from "./drain.ts";
import { limitsOf } from "./limits.ts";
import type { HoldfastWorker, HoldfastWorkerOptions } from "./options.ts";
import { DRAIN_MS, WORKER_SETTINGS } from "./settings.ts";
import { sourcesOf, toolsOf } from "./tools.ts";

/** How soon an end is noticed that nobody has told us of: the SDK listens to signals of its own. */
const LOOK_MS = 200;

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
  }).catch((error: unknown) => {
    throw unreachable(address, error);
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

/** The engine's own words name its library, and nothing that could be done. */
function unreachable(address: string, cause: unknown): Error {
  const said = cause instanceof Error ? cause.message : String(cause);
  const why = /message: "([^"]+)"/.exec(said)?.[1] ?? said;
  const advice = "Start one with `holdfast dev`, or name another with --address or TEMPORAL_ADDRESS.";
  return new Error(`No Temporal server could be reached at ${address}: ${why}. ${advice}`, { cause });
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
  const patient = patientTranscript(transcript, log);
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
      transcript: patient,
      hub,
      providers,
      tools: new ToolRegistry(toolsOf(options, log), sources),
      filters,
      hooks,
      transforms: new Named("context transform", options.transforms),
      converters: new Named("context converter", options.converters),
      compactions: new Named("compaction strategy", options.compactions, BUILT_IN_STRATEGIES),
      reducers: ownOrBuiltIn("reducer", options.reducers, Object.keys(BUILT_IN_REDUCERS), log),
      evaluations: ownOrBuiltIn(
        "evaluation strategy",
        options.evaluationStrategies,
        BUILT_IN_EVALUATIONS,
        log,
      ),
      secrets,
      outages: new Outages(),
      definitions: new Definitions(patient),
      conversations: new Conversations(patient),
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

/** Functions of the application: one wins over a built-in one of its name, with a warning. */
export function ownOrBuiltIn<Value>(
  what: string,
  values: Readonly<Record<string, Value>> | undefined,
  builtIn: readonly string[],
  log: Pick<Logger, "warn">,
): Named<Value> {
  const named = new Named(what, values);
  for (const name of named.names.filter((own) => builtIn.includes(own))) {
    log.warn(
      { [what]: name },
      `The ${what} "${name}" of the application replaces the built-in one of that name`,
    );
  }
  return named;
}

/** A file that the build has made; from the sources, the one in dist. */
function built(file: string): string {
  const folder = import.meta.url.endsWith(".ts") ? "../../dist/" : "../";
  return fileURLToPath(new URL(`${folder}${file}`, import.meta.url));
}
