import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  NativeConnection,
  NativeConnectionOptions,
  Worker,
  WorkerInterceptors,
} from "@temporalio/worker";
import { createActivities } from "../activities/index.ts";
import { createActivityTranscript } from "../activities/step/activity-transcript.ts";
import { Conversations } from "../activities/step/conversations.ts";
import { Definitions } from "../activities/step/definitions.ts";
import { getDatabaseUrl } from "../config/database-url.ts";
import { hideEnvironment } from "../config/hide-environment.ts";
import { type Home, resolveHome } from "../config/home.ts";
import { readSandbox } from "../config/sandbox.ts";
import { readDrainMs } from "../config/worker-environment.ts";
import { BUILT_IN_EVALUATIONS } from "../hooks/evaluation-strategy.ts";
import { FilterRegistry } from "../hooks/filters.ts";
import { HookRegistry } from "../hooks/hook-registry.ts";
import { NamedRegistry } from "../hooks/named-registry.ts";
import { BUILT_IN_REDUCERS } from "../hooks/reducer.ts";
import { Governor } from "../models/governor/governor.ts";
import { Outages } from "../models/outages.ts";
import { ProviderRegistry } from "../models/provider-registry.ts";
import { createMask } from "../models/secret-masks.ts";
import type { SecretSource } from "../models/secrets.ts";
import { type Encryption, resolveEncryption } from "../platform/encryption/resolve-encryption.ts";
import { createLogger, type Logger } from "../platform/log.ts";
import { BUILT_IN_STRATEGIES, DEFAULT_TRANSLATION } from "../schema/context.ts";
import { openHub } from "../store/stream/open-hub.ts";
import { openTranscript } from "../store/transcript/open-transcript.ts";
import type { WorkerProcess } from "../store/transcript/worker-process.ts";
import { Sandboxes } from "../tools/sandbox/sandboxes.ts";
import { ToolSources } from "../tools/sources/tool-sources.ts";
import { ToolRegistry } from "../tools/tool-registry.ts";
import { createSecretSource } from "./credentials.ts";
import { Drain } from "./drain.ts";
import { identifyProcess } from "./failover/process-identity.ts";
import type { Takeover, WorkflowService } from "./failover/takeover.ts";
import { watchSiblings } from "./failover/watch-siblings.ts";
import { readWorkerLimits } from "./limits.ts";
import { createFailureMasking, createMaskedLog } from "./masking.ts";
import type { AgentHostOptions } from "./options.ts";
import { addKnownValues, listOwnSecrets } from "./own-secrets.ts";
import { DRAIN_MS } from "./settings.ts";
import { listSources, listTools } from "./worker-tools.ts";

/** How soon an end that nothing reports is noticed: the SDK listens to signals of its own. */
const POLL_INTERVAL_MS = 200;

/** Where the worker polls, and how it connects. */
type WorkerPlace = {
  readonly namespace: string;
  readonly taskQueue: string;
  readonly connectionOptions?: NativeConnectionOptions;
  /** The identity that the application gives its worker. */
  readonly identity?: string | undefined;
};

/** What runs agents inside a worker of Temporal. Nothing is open yet: `openAgentHost` opens it. */
export type AgentHost = {
  readonly options: AgentHostOptions;
  readonly self: WorkerProcess;
  readonly log: Logger;
  readonly encryption: Encryption;
  readonly secrets: SecretSource;
  readonly sources: ToolSources;
  readonly tools: ToolRegistry;
  readonly home: Home;
  readonly sandboxes: Sandboxes;
  readonly drain: Drain;
  readonly drainMs: number;
  /** Through these, each activity of ours passes. */
  readonly interceptors: NonNullable<WorkerInterceptors["activity"]>;
};

type Activities = ReturnType<typeof createActivities>;
type More = Pick<Parameters<typeof createActivities>[0], "registeredTools" | "agents" | "agentSettings">;

/** An open host. `close` closes what it has opened, and nothing that the application gave it. */
export type OpenAgentHost = { readonly activities: Activities; readonly close: () => Promise<void> };

/** Checks the options, and prepares what needs neither a server nor a store. */
export function prepareAgentHost(options: AgentHostOptions, place: WorkerPlace): AgentHost {
  const getKnownValues = listOwnSecrets({
    env: process.env,
    keys: options.encryption?.keys,
    database: options.database,
    connection: place.connectionOptions ?? {},
  });
  const unmasked = options.log ?? createLogger(process.env["HOLDFAST_LOG"] ?? "warn");
  const log = createMaskedLog(unmasked, () => createMask(getKnownValues()));
  if (options.hideEnvironment === true) warnOfExposedNames(hideEnvironment(), log);
  const encryption = resolveEncryption(options.encryption);
  const secrets = addKnownValues(
    options.secrets ?? createSecretSource(options.credentials, process.env, log),
    getKnownValues,
  );
  const home = resolveHome(options.home);
  const sandboxes = new Sandboxes({
    fallback: readSandbox(options.sandbox, process.env),
    holdfastHome: home.folder,
    environment: process.env,
  });
  const sources = new ToolSources(listSources(options, { sandboxes, secrets, log }));
  const drainMs = options.drainMs ?? readDrainMs(process.env) ?? DRAIN_MS;
  const drain = new Drain(drainMs, log);
  const own = identifyProcess({ namespace: place.namespace, taskQueue: place.taskQueue });
  return {
    options,
    self: place.identity === undefined ? own : { ...own, id: `${place.identity}/${own.id}` },
    log,
    encryption,
    secrets,
    sources,
    tools: new ToolRegistry(listTools(options, log), sources),
    home,
    sandboxes,
    drain,
    drainMs,
    interceptors: [
      createFailureMasking((text) => createMask(secrets.knownValues?.() ?? [])(text)),
      drain.interceptor,
    ],
  };
}

function warnOfExposedNames(names: readonly string[], log: Logger): void {
  if (names.length === 0) return;
  log.warn(
    { names },
    `This system does not let the worker hide ${names.join(", ")} from commands of the same user, which can read them in ` +
      "/proc. Their values are masked in tool results. To isolate them, run the worker in a container of its own.",
  );
}

/** Opens the stores, registers the process, takes over from dead workers, and builds the activities. */
export async function openAgentHost(
  host: AgentHost,
  connection: NativeConnection,
  more: More = {},
): Promise<OpenAgentHost> {
  const { options, self, log } = host;
  const opened: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closeOne of opened.splice(0).reverse()) await closeOne();
  };
  try {
    const { home } = host;
    const database = getDatabaseUrl(options.database);
    const place = { path: home.transcript, database, encryption: options.encryption };
    const transcript = options.transcript ?? (await openTranscript(place));
    if (options.transcript === undefined) opened.push(() => transcript.close());
    const hub =
      options.hub ?? (await openHub({ folder: home.folder, database, encryption: options.encryption }));
    if (options.hub === undefined) opened.push(() => hub.close());
    opened.push(() => host.sources.close());
    const takeover: Takeover = {
      service: connection.workflowService as unknown as WorkflowService,
      within: (ms, call) => connection.withDeadline(Date.now() + ms, call),
      identity: self.id,
    };
    const registries = createRegistries(options, log);
    if (options.deadWorkerDetection !== false) {
      const watch = await watchSiblings(self, transcript, takeover, log);
      opened.push(() => watch.stop());
    }
    const patient = createActivityTranscript(transcript, log);
    const activities = createActivities({
      transcript: patient,
      hub,
      tools: host.tools,
      secrets: host.secrets,
      ...registries,
      outages: new Outages(),
      definitions: new Definitions(patient),
      conversations: new Conversations(patient),
      sandboxes: host.sandboxes,
      process: self.id,
      defaultWorkspace: options.defaultWorkspace ?? process.cwd(),
      cellWorkspaces: options.cellWorkspaces ?? join(tmpdir(), "holdfast-cells"),
      log,
      ...more,
    });
    return { activities, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function createRegistries(options: AgentHostOptions, log: Logger) {
  const adapters = ProviderRegistry.createDefault();
  for (const provider of options.providers ?? []) adapters.register(provider);
  const governor = new Governor({ limits: readWorkerLimits(options.limits, process.env) });
  const filters = new FilterRegistry();
  for (const [name, filter] of Object.entries(options.filters ?? {})) filters.register(name, filter);
  const hooks = new HookRegistry();
  for (const [name, { policy, ...functions }] of Object.entries(options.hooks ?? {})) {
    hooks.register(name, functions, policy);
  }
  return {
    providers: adapters.wrap((provider) => governor.govern(provider)),
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
    scorers: new NamedRegistry("scorer", options.scorers),
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

/** Runs a worker, and starts the drain when the worker begins to end. */
export async function runWithDrain(worker: Worker, drain: Drain, run: () => Promise<void>): Promise<void> {
  const look = setInterval(() => {
    const state = worker.getState();
    if (state !== "INITIALIZED" && state !== "RUNNING") drain.begin();
  }, POLL_INTERVAL_MS);
  try {
    await run();
  } finally {
    clearInterval(look);
    drain.end();
  }
}
