import { fileURLToPath } from "node:url";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection, Worker } from "@temporalio/worker";
import { createActivities } from "../activities/index.ts";
import { createActivityTranscript } from "../activities/step/activity-transcript.ts";
import { Conversations } from "../activities/step/conversations.ts";
import { Definitions } from "../activities/step/definitions.ts";
import { getDatabaseUrl } from "../config/database-url.ts";
import { hideEnvironment } from "../config/hide-environment.ts";
import { DEFAULT_TASK_QUEUE, resolveHome } from "../config/home.ts";
import { readDrainMs, readVersioning } from "../config/worker-environment.ts";
import { DEFAULT_TRANSLATION } from "../conversation/context-translation.ts";
import { BUILT_IN_EVALUATIONS } from "../hooks/evaluation-strategy.ts";
import { FilterRegistry } from "../hooks/filters.ts";
import { HookRegistry } from "../hooks/hook-registry.ts";
import { NamedRegistry } from "../hooks/named-registry.ts";
import { BUILT_IN_REDUCERS } from "../hooks/reducer.ts";
import { Governor } from "../models/governor/governor.ts";
import { Outages } from "../models/outages.ts";
import { ProviderRegistry } from "../models/provider-registry.ts";
import { createMask } from "../models/secret-masks.ts";
import { EncryptionCodec } from "../platform/encryption/encryption-codec.ts";
import { type Encryption, resolveEncryption } from "../platform/encryption/resolve-encryption.ts";
import { addKeysToIdentity } from "../platform/encryption/worker-keys.ts";
import { createLogger, type Logger } from "../platform/log.ts";
import { BUILT_IN_STRATEGIES } from "../schema/context.ts";
import { openHub } from "../store/stream/open-hub.ts";
import type { StreamHub } from "../store/stream/stream-hub.ts";
import { openTranscript } from "../store/transcript/open-transcript.ts";
import type { Transcript } from "../store/transcript/transcript.ts";
import { ToolSources } from "../tools/sources/tool-sources.ts";
import { ToolRegistry } from "../tools/tool-registry.ts";
import { createSecretSource } from "./credentials.ts";
import { buildDeploymentOptions } from "./deployment.ts";
import { Drain } from "./drain.ts";
import { identifyProcess } from "./failover/process-identity.ts";
import type { Takeover, WorkflowService } from "./failover/takeover.ts";
import { watchSiblings } from "./failover/watch-siblings.ts";
import { readWorkerLimits } from "./limits.ts";
import { createFailureMasking, createMaskedLog } from "./masking.ts";
import type { HoldfastWorker, HoldfastWorkerOptions } from "./options.ts";
import { addKnownValues, listOwnSecrets } from "./own-secrets.ts";
import { DRAIN_MS, WORKER_SETTINGS } from "./settings.ts";
import { listSources, listTools } from "./worker-tools.ts";

/** How soon an end that nothing reports is noticed: the SDK listens to signals of its own. */
const POLL_INTERVAL_MS = 200;

/**
 * Builds a worker: transcript, live output, vendors, tools, activities, workflows. The worker is registered when this
 * resolves, and polls for work as soon as it runs.
 */
export async function createWorker(options: HoldfastWorkerOptions = {}): Promise<HoldfastWorker> {
  const config = readConfig();
  const held = listOwnSecrets({
    env: process.env,
    keys: options.encryption?.keys,
    database: options.database,
    connection: { ...config.connectionOptions, ...options.connection },
  });
  const unmasked = options.log ?? createLogger(process.env["HOLDFAST_LOG"] ?? "warn");
  const log = createMaskedLog(unmasked, (text) => createMask(held())(text));
  if (options.hideEnvironment === true) warnOfExposedNames(hideEnvironment(), log);
  const encryption = resolveEncryption(options.encryption);
  const address = options.address ?? config.connectionOptions.address ?? "localhost:7233";
  const namespace = options.namespace ?? config.namespace ?? "default";
  const taskQueue = options.taskQueue ?? DEFAULT_TASK_QUEUE;
  const connection = await NativeConnection.connect({
    ...config.connectionOptions,
    ...options.connection,
    address,
  }).catch((error: unknown) => {
    throw buildUnreachableError(address, error);
  });
  const opened: (() => Promise<void>)[] = [() => connection.close()];
  const closeOwn = async () => {
    for (const close of opened.reverse()) await close();
  };
  try {
    await connection.workflowService.describeNamespace({ namespace });
    const home = resolveHome(options.home);
    const database = getDatabaseUrl(options.database);
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
      getKnownValues: held,
      closeOwn,
    });
  } catch (error) {
    await closeOwn();
    throw error;
  }
}

function warnOfExposedNames(names: readonly string[], log: Logger): void {
  if (names.length === 0) return;
  log.warn(
    { names },
    `This system does not let the worker hide ${names.join(", ")} from commands of the same user, which can read them in ` +
      "/proc. Their values are masked in tool results. To isolate them, run the worker in a container of its own.",
  );
}

/** Builds a helpful error, because the engine's own message names only its library. */
function buildUnreachableError(address: string, cause: unknown): Error {
  const causeText = cause instanceof Error ? cause.message : String(cause);
  const reason = /message: "([^"]+)"/.exec(causeText)?.[1] ?? causeText;
  const advice = "Start one with `holdfast dev`, or name another with --address or TEMPORAL_ADDRESS.";
  return new Error(`No Temporal server can be reached at ${address}: ${reason}. ${advice}`, { cause });
}

/**
 * Reads Temporal's configuration. An empty `TEMPORAL_CONFIG_FILE` names no file, but Temporal's own reader fails on
 * it.
 */
function readConfig(): ReturnType<typeof loadClientConnectConfig> {
  return loadClientConnectConfig({ disableFile: process.env["TEMPORAL_CONFIG_FILE"] === "" });
}

type WorkerParts = {
  readonly connection: NativeConnection;
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly transcript: Transcript;
  readonly hub: StreamHub;
  readonly log: Logger;
  readonly encryption: Encryption;
  /** Values that must not be displayed anywhere. */
  readonly getKnownValues: () => readonly string[];
  readonly closeOwn: () => Promise<void>;
};

async function assemble(options: HoldfastWorkerOptions, parts: WorkerParts): Promise<HoldfastWorker> {
  const {
    connection,
    address,
    namespace,
    taskQueue,
    transcript,
    hub,
    log,
    encryption,
    getKnownValues: held,
    closeOwn,
  } = parts;
  const self = identifyProcess({ namespace, taskQueue });
  const adapters = ProviderRegistry.createDefault();
  for (const provider of options.providers ?? []) adapters.register(provider);
  const governor = new Governor({ limits: readWorkerLimits(options.limits, process.env) });
  const providers = adapters.wrap((provider) => governor.govern(provider));
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
  const secrets = addKnownValues(
    options.secrets ?? createSecretSource(options.credentials, process.env, log),
    held,
  );
  const sources = new ToolSources(listSources(options, { secrets, log }));
  const watch =
    options.deadWorkerDetection === false ? undefined : await watchSiblings(self, transcript, takeover, log);
  const patient = createActivityTranscript(transcript, log);
  const drainMs = options.drainMs ?? readDrainMs(process.env) ?? DRAIN_MS;
  const drain = new Drain(drainMs, log);
  const { interceptors, ...temporal } = options.temporal ?? {};
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: { codePath: resolveBuiltFile("workflow-bundle.js") },
    dataConverter: {
      payloadCodecs: [new EncryptionCodec(encryption)],
      ...(encryption.payloads
        ? { failureConverterPath: resolveBuiltFile("platform/encryption/failure-converter.js") }
        : {}),
    },
    activities: createActivities({
      transcript: patient,
      hub,
      providers,
      tools: new ToolRegistry(listTools(options, log), sources),
      filters,
      hooks,
      transforms: new NamedRegistry("context transform", options.transforms),
      converters: new NamedRegistry("context converter", options.converters),
      translations: new NamedRegistry("context translation", options.translations, [DEFAULT_TRANSLATION]),
      compactions: new NamedRegistry("compaction strategy", options.compactions, BUILT_IN_STRATEGIES),
      reducers: registerWithBuiltIns("reducer", options.reducers, Object.keys(BUILT_IN_REDUCERS), log),
      evaluations: registerWithBuiltIns(
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
    identity: addKeysToIdentity(self.id, encryption),
    ...WORKER_SETTINGS,
    shutdownGraceTime: drainMs,
    ...buildDeploymentOptions(options.versioning ?? readVersioning(process.env)),
    ...temporal,
    interceptors: {
      ...interceptors,
      activity: [
        createFailureMasking((text) => createMask(secrets.knownValues?.() ?? [])(text)),
        drain.interceptor,
        ...(interceptors?.activity ?? []),
      ],
    },
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
      }, POLL_INTERVAL_MS);
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
      if (worker.getState() !== "RUNNING") return drain.releaseNow();
      worker.shutdown();
      drain.begin();
    },
  };
}

/** Registers functions of the application: one of them replaces a built-in one of its name, with a warning. */
export function registerWithBuiltIns<Value>(
  what: string,
  values: Readonly<Record<string, Value>> | undefined,
  builtIn: readonly string[],
  log: Pick<Logger, "warn">,
): NamedRegistry<Value> {
  const named = new NamedRegistry(what, values);
  for (const name of named.names.filter((own) => builtIn.includes(own))) {
    log.warn(
      { [what]: name },
      `The ${what} "${name}" of the application replaces the built-in one of that name`,
    );
  }
  return named;
}

/** Returns the path of a file that the build creates; when running from the sources, the one in dist. */
function resolveBuiltFile(file: string): string {
  const folder = import.meta.url.endsWith(".ts") ? "../../dist/" : "../";
  return fileURLToPath(new URL(`${folder}${file}`, import.meta.url));
}
