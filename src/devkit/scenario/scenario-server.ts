import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import type { InputFilter } from "../../hooks/filters.ts";
import type { HookFunctions } from "../../hooks/hook-registry.ts";
import { SqliteTranscript } from "../../store/transcript/sqlite/sqlite-transcript.ts";
import type { StoreWrite } from "../../store/transcript/store-write.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { startModelServer } from "../../testing/model-server/server.ts";
import { createViewTools } from "../../tools/builtin/view-tools.ts";
import type { Tool } from "../../tools/tool.ts";
import { buildDefinition } from "./definition.ts";
import { createHook } from "./hook-script.ts";
import { createFilter } from "./input-filter.ts";
import { playPlain } from "./plain.ts";
import type { PlayResult } from "./play-result.ts";
import { createTool } from "./scenario-tool.ts";
import type { Scenario, ScenarioFilter, ScenarioHook, ScenarioTool } from "./schema.ts";
import { collectResult, findPosition, findSession } from "./server/collect-result.ts";
import { Follower } from "./server/follower.ts";
import { toDeadWorkerClaim } from "./server/worker-death.ts";

/** The function that creates a worker: `createWorker`, passed by callers that may import it. */
type WorkerFactory = (options: {
  address: string;
  namespace: string;
  home: string;
  taskQueue: string;
  transcript: Transcript;
  tools: readonly Tool[];
  filters: Readonly<Record<string, InputFilter>>;
  hooks: Readonly<Record<string, HookFunctions>>;
  builtInTools: boolean;
  defaultWorkspace: string;
  sandbox: "off";
}) => Promise<{ run(): Promise<void>; shutdown(): void }>;

export type ScenarioServerOptions = {
  readonly address: string;
  readonly namespace: string;
  readonly createWorker: WorkerFactory;
};

/** The real stack, ready for any number of scenarios. */
export type ScenarioServer = {
  play(scenario: Scenario): Promise<PlayResult>;
  close(): Promise<void>;
};

type RunningWorker = {
  readonly taskQueue: string;
  /** The worker's tools and filters, by name. */
  readonly configuration: ReadonlyMap<string, string>;
  readonly stop: () => Promise<void>;
};

/**
 * Connects to a Temporal server, and starts a scripted vendor, a transcript and workers.
 *
 * @param scenarios - The scenarios whose tools the first worker has; others get their own worker if they need one.
 */
export async function openScenarioServer(
  { address, namespace, createWorker }: ScenarioServerOptions,
  scenarios: readonly Scenario[] = [],
): Promise<ScenarioServer> {
  const home = await mkdtemp(join(tmpdir(), "holdfast-scenarios-"));
  const followers = new Map<string, Follower>();
  const findFollower = (session: string): Follower | undefined => followers.get(session);
  const model = await startModelServer({
    respond: async ({ conversation, firstUserText }) => {
      const [session = "", ...below] = conversation.split("/");
      const path = below.map((name) => `/${name}`).join("");
      return await findFollower(session)?.answer(path, firstUserText);
    },
  });
  const transcript = await SqliteTranscript.open({ path: join(home, "transcript.db") });
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const workers: RunningWorker[] = [];
  let sessions = 0;

  function getFollower(session: string): Follower {
    const follower = findFollower(session);
    if (follower === undefined) throw new Error(`No scenario plays in ${session}`);
    return follower;
  }

  async function getWorker(scenario: Scenario): Promise<RunningWorker> {
    const required = listParts(scenario);
    const existing = workers.find(({ configuration }) =>
      [...required].every(([name, facts]) => configuration.get(name) === facts),
    );
    if (existing !== undefined) return existing;
    const taskQueue = `scenarios-${process.pid}-${performance.now()}`;
    const tools = new Map<string, ScenarioTool>();
    const filters = new Map<string, ScenarioFilter>();
    const hooks = new Map<string, ScenarioHook>();
    for (const one of [scenario, ...scenarios]) {
      for (const tool of one.tools) if (!tools.has(tool.name)) tools.set(tool.name, tool);
      for (const hook of one.hooks) hooks.set(hook.name, hook);
      for (const filter of one.filters) if (!filters.has(filter.name)) filters.set(filter.name, filter);
    }
    const worker = await createWorker({
      address,
      namespace,
      home,
      taskQueue,
      // Scenarios come from files that the user has chosen, and play the same on every host.
      sandbox: "off",
      transcript: watchWrites(transcript, findFollower),
      tools: [
        ...createViewTools(),
        ...[...tools.values()].map((tool) =>
          createTool(tool, (value, context) => {
            const session = context.workspace.slice(home.length + 1);
            return getFollower(session).execute(value, context);
          }),
        ),
      ],
      hooks: Object.fromEntries(
        [...hooks.keys()].map((name) => [
          name,
          createHook((point, context, signal) =>
            getFollower(context.sessionId).hooks.ask(name, point, context, signal),
          ),
        ]),
      ),
      filters: Object.fromEntries([...filters].map(([name, filter]) => [name, createFilter(filter)])),
      builtInTools: false,
      defaultWorkspace: home,
    });
    const running = worker.run();
    const started = {
      taskQueue,
      configuration: listParts({
        tools: [...tools.values()],
        filters: [...filters.values()],
        hooks: [...hooks.values()],
      }),
      stop: async () => {
        worker.shutdown();
        await running;
      },
    };
    workers.push(started);
    return started;
  }

  return {
    play: async (scenario) => {
      const { schedule, played: plain } = await playPlain(scenario);
      const session = `scenario-${process.pid}-${sessions++}`;
      const workspace = join(home, session);
      await mkdir(workspace);
      const follower = new Follower({
        client,
        session,
        taskQueue: (await getWorker(scenario)).taskQueue,
        definition: buildDefinition(scenario, model.anthropicBaseUrl, {
          conversation: session,
          workspace,
        }) as never,
        idleTimeoutMs: scenario.idleTimeoutMs,
        hooks: scenario.hooks,
        schedule,
        findPosition: (continued) => findPosition(transcript, session, continued),
        findSession: (caller, call) => findSession(transcript, caller, call),
      });
      followers.set(session, follower);
      try {
        await follower.follow();
      } catch (error) {
        await client.workflow
          .getHandle(session)
          .terminate("the scenario failed")
          .catch(() => undefined);
        throw error;
      }
      const requests = model.requests.filter(({ conversation }) => conversation.split("/")[0] === session);
      return await collectResult(session, follower, requests, transcript, plain);
    },
    close: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      await model.stop();
      await transcript.close();
      await connection.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Two tools with one name can share a worker if they differ only in their results. */
function listParts({
  tools,
  filters,
  hooks,
}: Pick<Scenario, "tools" | "filters" | "hooks">): ReadonlyMap<string, string> {
  return new Map([
    ...tools.map(({ does: _, ...facts }) => [`tool ${facts.name}`, JSON.stringify(facts)] as const),
    ...hooks.map(({ name }) => [`hook ${name}`, ""] as const),
    ...filters.map((filter) => [`filter ${filter.name}`, JSON.stringify(filter)] as const),
  ]);
}

/** Returns the root session of this session's tree. */
function getRootSession(session: string): string {
  return session.split(".sub-")[0] ?? session;
}

/** Creates a transcript that notifies followers of the writes that a schedule may delay or wait for. */
function watchWrites(inner: Transcript, followerOf: (session: string) => Follower | undefined): Transcript {
  const special: Partial<Transcript> = {
    openLoop: async (opening) => {
      await followerOf(opening.step.session)?.waitForWrite("open");
      return await inner.openLoop(opening);
    },
    closeLoop: async (closing) => {
      await followerOf(closing.step.session)?.waitForWrite("close");
      const closed = await inner.closeLoop(closing);
      followerOf(closing.step.session)?.recordEvents(closing.loopId, closing.outbox.events);
      return closed;
    },
    claim: async (step, place, outbox, nowMs) => {
      const claimed = await inner.claim(step, place, outbox, nowMs);
      followerOf(step.session)?.recordEvents(place.loopId, outbox.events);
      const bereft = followerOf(getRootSession(step.session))?.hasLostWorker(step.session) === true;
      return bereft ? toDeadWorkerClaim(claimed) : claimed;
    },
    storeInbox: async (write, messages) => {
      const stored = await inner.storeInbox(write, messages);
      followerOf(write.step.session)?.recordEvents(write.loopId, write.outbox.events);
      return stored;
    },
    store: async (write: StoreWrite) => {
      const stored = await inner.store(write);
      followerOf(write.step.session)?.recordEvents(write.loopId, write.outbox.events);
      const message = write.entries[0]?.message;
      if (message?.role === "toolResult")
        followerOf(getRootSession(write.step.session))?.confirmStored(message.toolCallId);
      return stored;
    },
  };
  return new Proxy(inner, {
    get: (target, name) => {
      const own: unknown = Reflect.get(special, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
