import { fileURLToPath } from "node:url";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection, Worker } from "@temporalio/worker";
import { createActivities } from "../activities/index.ts";
import { Conversations } from "../activities/step/conversations.ts";
import { Definitions } from "../activities/step/definitions.ts";
import { patientTranscript } from "../activities/step/patient-transcript.ts";
import { databaseUrl } from "../config/database.ts";
import { hideEnvironment } from "../config/hide-environment.ts";
import { DEFAULT_TASK_QUEUE, homeAt } from "../config/home.ts";
import { drainMsFrom, versioningFrom } from "../config/worker-environment.ts";
import { BUILT_IN_EVALUATIONS } from "../hooks/evaluation-strategy.ts";
import { FilterRegistry } from "../hooks/filters.ts";
import { Named } from "../hooks/named.ts";
import { BUILT_IN_REDUCERS } from "../hooks/reducer.ts";
import { HookRegistry } from "../hooks/registry.ts";
import { Governor } from "../models/governor/governor.ts";
import { maskFor } from "../models/mask.ts";
import { Outages } from "../models/outages.ts";
import { ProviderRegistry } from "../models/registry.ts";
import { type Encryption, encryptionOf } from "../platform/encryption/encryption.ts";
import { SealingCodec } from "../platform/encryption/sealing-codec.ts";
import { identityWith } from "../platform/encryption/worker-keys.ts";
import { createLogger, type Logger } from "../platform/log.ts";
import { BUILT_IN_STRATEGIES } from "../schema/context.ts";
import { openHub } from "../store/stream/open-hub.ts";
import type { StreamHub } from "../store/stream/stream.ts";
import { openTranscript } from "../store/transcript/open-transcript.ts";
import type { Transcript } from "../store/transcript/transcript.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { ToolSources } from "../tools/sources/sources.ts";
import { credentialsOf } from "./credentials.ts";
import { deploymentOptions } from "./deployment.ts";
import { Drain } from "./drain.ts";
import { thisProcess } from "./failover/process-identity.ts";
import type { Takeover, WorkflowService } from "./failover/takeover.ts";
import { watchSiblings } from "./failover/watch.ts";
import { limitsOf } from "./limits.ts";
import { maskedFailures, maskedLog } from "./masked.ts";
import type { HoldfastWorker, HoldfastWorkerOptions } from "./options.ts";
import { ownSecrets, withHeld } from "./own-secrets.ts";
import { DRAIN_MS, WORKER_SETTINGS } from "./settings.ts";
import { sourcesOf, toolsOf } from "./tools.ts";

/** How soon an end is noticed that nobody has told us of: the SDK listens to signals of its own. */
const LOOK_MS = 200;

/**
 * Puts a worker together: transcript, live output, vendors, tools, activities, workflows. It is signed in when this
 * resolves, and asks for work as soon as it runs.
 */
export async function createWorker(options: HoldfastWorkerOptions = {}): Promise<HoldfastWorker> {
  const config = readConfig();
  const held = ownSecrets({
    env: process.env,
    keys: options.encryption?.keys,
    database: options.database,
    connection: { ...config.connectionOptions, ...options.connection },
  });
  const unmasked = options.log ?? createLogger(process.env["HOLDFAST_LOG"] ?? "warn");
  const log = maskedLog(unmasked, (text) => maskFor(held())(text));
  if (options.hideEnvironment === true) warnOfShown(hideEnvironment(), log);
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
      held,
      closeOwn,
    });
  } catch (error) {
    await closeOwn();
    throw error;
  }
}

function warnOfShown(names: readonly string[], log: Logger): void {
  if (names.length === 0) return;
  log.warn(
    { names },
    `This system does not let the worker hide ${names.join(", ")} from commands of the same user, which find them in ` +
      "/proc. Their values are masked in what tools return; run the worker in a container of its own to keep them apart.",
  );
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
  /** Values that nothing may show. */
  readonly held: () => readonly string[];
  readonly closeOwn: () => Promise<void>;
};

async function assemble(options: HoldfastWorkerOptions, parts: Parts): Promise<HoldfastWorker> {
  const { connection, address, namespace, taskQueue, transcript, hub, log, encryption, held, closeOwn } =
    parts;
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
  const secrets = withHeld(options.secrets ?? credentialsOf(options.credentials, process.env, log), held);
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
    interceptors: {
      ...interceptors,
      activity: [
        maskedFailures((text) => maskFor(secrets.held?.() ?? [])(text)),
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
