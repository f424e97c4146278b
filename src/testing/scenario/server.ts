import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import type { InputFilter } from "../../hooks/filters.ts";
import type { EventBody } from "../../schema/record.ts";
import type { Tool } from "../../tools/tool.ts";
import { SqliteTranscript } from "../../transcript/sqlite/sqlite-transcript.ts";
import type { StoreWrite, Transcript } from "../../transcript/transcript.ts";
import type { RecordedRequest } from "../model-server/ledger.ts";
import { startModelServer } from "../model-server/server.ts";
import { definitionInput } from "./definition.ts";
import { type LoopTrace, scenarioEvents, timelessValue } from "./events.ts";
import { filterOf } from "./filters.ts";
import { playPlain } from "./plain.ts";
import type { ContinuedFrom, Played, RanCall, SentRequest } from "./played.ts";
import type { Scenario, ScenarioFilter, ScenarioTool } from "./schema.ts";
import { offeredTools, sentMessages } from "./sent.ts";
import { Follower } from "./server/follower.ts";
import { toolOf } from "./tools.ts";

/** What makes a worker: `createWorker`, given by who may construct one. */
export type WorkerFactory = (options: {
  address: string;
  namespace: string;
  home: string;
  taskQueue: string;
  transcript: Transcript;
  tools: readonly Tool[];
  filters: Readonly<Record<string, InputFilter>>;
  builtInTools: boolean;
  defaultWorkspace: string;
}) => Promise<{ run(): Promise<void>; shutdown(): void }>;

export type ScenarioServerOptions = {
  readonly address: string;
  readonly namespace: string;
  readonly createWorker: WorkerFactory;
};

/** The real stack, ready for any number of scenarios. */
export type ScenarioServer = {
  play(scenario: Scenario): Promise<Played>;
  close(): Promise<void>;
};

type RunningWorker = {
  readonly taskQueue: string;
  /** What its tools and filters are, by name. */
  readonly has: ReadonlyMap<string, string>;
  readonly stop: () => Promise<void>;
};

/**
 * Joins a Temporal server and puts a scripted vendor, a transcript and workers beside it.
 *
 * @param scenarios - Whose tools the first worker has; others get a worker of their own when they need one.
 */
export async function openScenarioServer(
  { address, namespace, createWorker }: ScenarioServerOptions,
  scenarios: readonly Scenario[] = [],
): Promise<ScenarioServer> {
  const home = await mkdtemp(join(tmpdir(), "holdfast-scenarios-"));
  const followers = new Map<string, Follower>();
  const followerOf = (session: string): Follower | undefined => followers.get(session);
  const model = await startModelServer({
    respond: async ({ conversation }) => await followerOf(conversation)?.answer(),
  });
  const transcript = await SqliteTranscript.open({ path: join(home, "transcript.db") });
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const workers: RunningWorker[] = [];
  let sessions = 0;

  async function workerFor(scenario: Scenario): Promise<RunningWorker> {
    const wanted = partsOf(scenario);
    const there = workers.find(({ has }) => [...wanted].every(([name, facts]) => has.get(name) === facts));
    if (there !== undefined) return there;
    const taskQueue = `scenarios-${process.pid}-${performance.now()}`;
    const tools = new Map<string, ScenarioTool>();
    const filters = new Map<string, ScenarioFilter>();
    for (const one of [scenario, ...scenarios]) {
      for (const tool of one.tools) if (!tools.has(tool.name)) tools.set(tool.name, tool);
      for (const filter of one.filters) if (!filters.has(filter.name)) filters.set(filter.name, filter);
    }
    const worker = await createWorker({
      address,
      namespace,
      home,
      taskQueue,
      transcript: watched(transcript, followerOf),
      tools: [...tools.values()].map((tool) =>
        toolOf(tool, (value, context) => {
          const session = context.workspace.slice(home.length + 1);
          const follower = followerOf(session);
          if (follower === undefined) throw new Error(`No scenario plays in ${context.workspace}`);
          return follower.execute(value, context);
        }),
      ),
      filters: Object.fromEntries([...filters].map(([name, filter]) => [name, filterOf(filter)])),
      builtInTools: false,
      defaultWorkspace: home,
    });
    const running = worker.run();
    const started = {
      taskQueue,
      has: partsOf({ tools: [...tools.values()], filters: [...filters.values()] }),
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
      const headers = { "x-conversation": session };
      const follower = new Follower({
        client,
        session,
        taskQueue: (await workerFor(scenario)).taskQueue,
        definition: definitionInput(scenario, model.anthropicBaseUrl, { headers, workspace }) as never,
        idleTimeoutMs: scenario.idleTimeoutMs,
        schedule,
        placeOf: (continued) => placeOf(transcript, session, continued),
      });
      followers.set(session, follower);
      try {
        await follower.follow();
      } catch (error) {
        await client.workflow
          .getHandle(session)
          .terminate("the scenario has failed")
          .catch(() => undefined);
        throw error;
      }
      const requests = model.requests.filter(({ conversation }) => conversation === session);
      return await playedOf(session, follower, requests, transcript, plain);
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

async function playedOf(
  session: string,
  follower: Follower,
  requests: readonly RecordedRequest[],
  transcript: Transcript,
  plain: Played,
): Promise<Played> {
  const loops: LoopTrace[] = [];
  for (const { loopId, branch } of await transcript.loops(session)) {
    const events: EventBody[] = (await transcript.events(loopId, 0)).map(({ body }) => body);
    loops.push({ loopId, events, entries: await transcript.entries(session, branch, 0, 100_000) });
  }
  const { outcome, ran, refused, continuedAsNew } = follower;
  return {
    events: scenarioEvents(loops),
    hooks: [],
    sent: requests.map((request, at) => sentOf(request, plain.sent[at])),
    ran: inOrderOf(plain.ran, ran),
    outcome: timelessValue(outcome),
    inbox: (await transcript.inbox(session)).map(({ text }) => text),
    refused,
    continuedAsNew,
  };
}

/** Calls that run side by side begin in any order. */
function inOrderOf(plain: readonly RanCall[], ran: readonly RanCall[]): readonly RanCall[] {
  const place = new Map(plain.map(({ call }, at) => [call, at]).reverse() as [string, number][]);
  return [...ran].sort((a, b) => (place.get(a.call) ?? plain.length) - (place.get(b.call) ?? plain.length));
}

async function placeOf(transcript: Transcript, session: string, { at, loop }: ContinuedFrom) {
  if (at === undefined && loop === undefined) return undefined;
  const loops = await transcript.loops(session);
  const branch = loops.at(loop ?? -1)?.branch ?? "";
  return { branch, position: at ?? (await transcript.length(session, branch)) };
}

/** A request does not say to which loop and turn it belongs; the plain driver knows. */
function sentOf({ body }: RecordedRequest, place: SentRequest | undefined): SentRequest {
  const { loop = -1, turn = -1, for: purpose = "answer" } = place ?? {};
  return { loop, turn, for: purpose, messages: sentMessages(body ?? {}), tools: offeredTools(body ?? {}) };
}

/** Two tools of one name can share a worker when they differ in nothing but what they give. */
function partsOf({ tools, filters }: Pick<Scenario, "tools" | "filters">): ReadonlyMap<string, string> {
  return new Map([
    ...tools.map(({ does: _, ...facts }) => [`tool ${facts.name}`, JSON.stringify(facts)] as const),
    ...filters.map((filter) => [`filter ${filter.name}`, JSON.stringify(filter)] as const),
  ]);
}

/** A transcript that tells followers of the writes which a schedule may hold up or wait for. */
function watched(inner: Transcript, followerOf: (session: string) => Follower | undefined): Transcript {
  const special: Partial<Transcript> = {
    openLoop: async (opening) => {
      await followerOf(opening.step.session)?.write("open");
      return await inner.openLoop(opening);
    },
    closeLoop: async (closing) => {
      await followerOf(closing.step.session)?.write("close");
      return await inner.closeLoop(closing);
    },
    store: async (write: StoreWrite) => {
      const stored = await inner.store(write);
      const message = write.entries[0]?.message;
      if (message?.role === "toolResult") followerOf(write.step.session)?.stored(message.toolCallId);
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
