import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Holdfast } from "../../src/client/index.ts";
import { readProcess } from "../../src/platform/process/process-table.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server/server.ts";
import type { TestAgentOptions } from "../../src/testing/test-agent.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { eventually } from "../support/eventually.ts";
import { isThorough } from "../support/test-depth.ts";
import { createAgentTree, createTaskCall, findChildSession } from "./support/agent-tree.ts";
import { createMembers } from "./support/job-agents.ts";
import {
  isActivityRunning,
  isWaitingForVendor,
  listOpenDescendants,
  measureStopMs,
  STOP_METHODS,
} from "./support/stopping.ts";
import { connectClient } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import { TestEvaluation } from "./support/test-evaluation.ts";
import { type SessionOptions, TestSession } from "./support/test-session.ts";
import { TestTeam } from "./support/test-team.ts";

/**
 * Whatever a run is doing, it ends within this time after a request to stop it. `npm run stop-times` measures that for all
 * states, one after the other with nothing beside it, `npm test` for the first one. `npm run test:all` stops several runs at a
 * time beside other tests, and checks all else.
 */
const LIMIT_MS = 10_000;
const isTimed = !isThorough || process.env["HOLDFAST_STOP_TIMES"] === "1";

/** Sessions whose loops nothing closes, by the prefixes of their names: their runs do not end. */
const deaf = new Set<string>();
let letGo: () => void = () => undefined;
const released = new Promise<void>((resolve) => {
  letGo = resolve;
});

const never = () => new Promise<never>(() => undefined);
const stuck = defineTool({
  name: "stuck",
  description: "Never ends, and does not listen",
  inputSchema: z.object({}),
  execute: never,
});

let stage: TestEnvironment;
let holdfast: Holdfast;

beforeAll(async () => {
  stage = await openTestEnvironment({
    workflowThread: true,
    tools: [stuck],
    registered: { reducers: { stuck: never }, evaluationStrategies: { stuck: never } },
    wrap: (inner) =>
      new Proxy(inner, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== "function") return value;
          if (name !== "closeLoop") return value.bind(target);
          return async (closing: Parameters<typeof target.closeLoop>[0]) => {
            if ([...deaf].some((beginning) => closing.step.session.startsWith(beginning))) await released;
            return await target.closeLoop(closing);
          };
        },
      }),
  });
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  letGo();
  await holdfast.close();
  await stage.close();
  await Promise.all(vendors.map((vendor) => vendor.stop()));
});

/** A run in the middle of an operation. */
type Scene = {
  /** The id of the workflow. */
  readonly id: string;
  /** The status that the run ends with; "stopped" by default. */
  readonly status?: string;
  /** Sessions whose last loop must have its terminal event; that of the workflow by default. */
  readonly closed?: readonly string[];
  /** The sessions whose requests to the vendor must have ended. */
  readonly asks: readonly Pick<TestSession, "listRequests">[];
  readonly behind?: () => void;
};

let names = 0;
const unique = (word: string): string => `${word}-${++names}`;

const vendors: ModelServer[] = [];

/** The test environment with a vendor of its own: scenes are arranged in parallel, and a script is for one. */
async function scene(): Promise<TestEnvironment> {
  const model = await startModelServer();
  vendors.push(model);
  const own: TestEnvironment = {
    ...stage,
    model,
    session: (options = {}) => new TestSession(own, `${unique("stop")}-${stage.taskQueue}`, options),
  };
  return own;
}
const call = (name: string, args: Record<string, unknown> = {}) => ({
  toolCalls: [{ name, arguments: args }],
});

async function begun(
  own: TestEnvironment,
  options: SessionOptions,
  request: Parameters<TestSession["start"]>[1] = {},
): Promise<TestSession> {
  const session = own.session(options);
  await session.start("Go", request);
  return session;
}

async function hold({ model }: TestEnvironment, ...gates: readonly string[]): Promise<void> {
  for (const gate of gates) await model.waitForHold(gate);
}

async function processIn(file: string): Promise<number> {
  return Number(await eventually(() => readFile(join(stage.home, file), "utf8")));
}

/** A zombie does not run. */
function expectGone(pid: number): void {
  const state = readProcess(pid)?.state ?? "X";
  expect("ZX").toContain(state);
}

/** The vendor's side of a tree, a job's agents or an evaluation: the requests by the names of the conversations. */
const asking = ({ model }: TestEnvironment, ...conversations: readonly (string | undefined)[]) => ({
  listRequests: () => model.requests.filter(({ conversation }) => conversations.includes(conversation)),
});

const isFrom =
  ({ id }: TestSession) =>
  ({ conversation }: { readonly conversation: string }): boolean =>
    conversation === id;
const nameOf = ({ definition }: Pick<TestSession, "definition">): string | undefined =>
  definition.model.headers?.["x-conversation"];
const membersOf = (own: TestEnvironment, { definition }: TestSession) =>
  asking(own, ...(definition.subAgents ?? []).map(({ agent }) => agent.model.headers?.["x-conversation"]));

const PLACES: readonly (readonly [string, (own: TestEnvironment) => Promise<Scene>])[] = [
  [
    "a request that the vendor does not answer",
    async (own) => {
      const session = await begun(own, { faults: [{ fault: "silence" }] });
      await session.waitForRequest(0);
      return { id: session.id, asks: [session] };
    },
  ],
  [
    "a stream that hangs in the middle",
    async (own) => {
      const session = await begun(own, { faults: [{ fault: "silence", afterChunks: 3 }] });
      await eventually(() => (session.listRequests()[0]?.bytesSent ?? 0) > 0);
      return { id: session.id, asks: [session] };
    },
  ],
  [
    "a long delay between two attempts",
    async (own) => {
      const session = await begun(own, { faults: [{ fault: "rate-limited", retryAfterSeconds: 600 }] });
      await eventually(async () => isWaitingForVendor(await session.readStatus()));
      return { id: session.id, asks: [session] };
    },
  ],
  [
    "a command that ignores all signals but the last",
    async (own) => {
      const file = unique("pid");
      const command = `trap '' TERM INT HUP; echo $BASHPID > ${file}.part; mv ${file}.part ${file}; while :; do sleep 1; done`;
      const session = await begun(own, { replies: [call("bash", { command })], agent: { tools: ["bash"] } });
      const pid = await processIn(file);
      return { id: session.id, asks: [session], behind: () => expectGone(pid) };
    },
  ],
  [
    "a tool that ignores its signal",
    async (own) => {
      const session = await begun(own, { replies: [call("stuck")], agent: { tools: ["stuck"] } });
      await eventually(() => isActivityRunning(stage, session.id, "stuck"));
      return { id: session.id, asks: [session] };
    },
  ],
  [
    "a call that waits for a person",
    async (own) => {
      const file = unique("never");
      const agent = { tools: ["bash"], permissions: { rules: [], otherwise: "ask" as const } };
      const session = await begun(own, { replies: [call("bash", { command: `touch ${file}` })], agent });
      await eventually(async () => (await session.readStatus()).status === "needs-approval");
      return { id: session.id, asks: [session] };
    },
  ],
  [
    "the wait for a prompt",
    async (own) => {
      const session = await begun(own, { replies: [{ text: "One." }] }, { mode: "interactive" });
      await eventually(async () => (await session.readStatus()).status === "waiting");
      return { id: session.id, status: "completed", asks: [session] };
    },
  ],
  [
    "a sub-agent's answer",
    async (own) => {
      const gate = unique("sub");
      const parent = createAgentTree(own, [{ toolCalls: [createTaskCall("slow", "wait")] }], {
        slow: [{ text: "never", holdUntil: gate }],
      });
      await parent.start("Go");
      await hold(own, gate);
      const child = await findChildSession(stage, parent);
      return { id: parent.id, closed: [parent.id, child.id], asks: [parent, membersOf(own, parent)] };
    },
  ],
  [
    "a sub-agent's call that waits for a person",
    async (own) => {
      const permissions = { rules: [], otherwise: "ask" as const };
      const parent = createAgentTree(
        own,
        [{ toolCalls: [createTaskCall("asks", "touch")] }],
        { asks: [call("bash", { command: "true" })] },
        {},
        { tools: ["bash"], permissions },
      );
      await parent.start("Go");
      const child = await findChildSession(stage, parent);
      await eventually(async () => (await holdfast.session(child.id).status()).status === "needs-approval");
      return { id: parent.id, closed: [parent.id, child.id], asks: [parent, membersOf(own, parent)] };
    },
  ],
  [
    "a sub-agent that does not answer",
    async (own) => {
      const gate = unique("deaf");
      const parent = createAgentTree(own, [{ toolCalls: [createTaskCall("slow", "wait")] }], {
        slow: [{ text: "never", holdUntil: gate }],
      });
      deaf.add(`${parent.id}.sub-`);
      await parent.start("Go");
      await hold(own, gate);
      return { id: parent.id, asks: [parent, membersOf(own, parent)] };
    },
  ],
  [
    "a sub-agent below a sub-agent that does not answer",
    async (own) => {
      const gate = unique("deep");
      const over = (name: string, { definition }: TestSession, more: TestAgentOptions = {}) =>
        own.session({
          agent: { subAgents: [{ name, description: `Does what ${name} does`, agent: definition }], ...more },
        });
      const leaf = own.session({ agent: { tools: ["list_files"] } });
      const middle = over("leaf", leaf);
      const parent = over("middle", middle, { delegation: { maxDepth: 2 } });
      own.model.script({
        conversations: [
          { match: isFrom(parent), replies: [{ toolCalls: [createTaskCall("middle", "go")] }] },
          { match: isFrom(middle), replies: [{ toolCalls: [createTaskCall("leaf", "go")] }] },
          { match: isFrom(leaf), replies: [{ text: "never", holdUntil: gate }] },
        ],
      });
      await parent.start("Go");
      const child = await findChildSession(stage, parent);
      deaf.add(`${child.id}.sub-`);
      await hold(own, gate);
      return { id: parent.id, closed: [parent.id, child.id], asks: [parent, middle, leaf] };
    },
  ],
  [
    "a stage of a pipeline",
    async (own) => {
      const gate = unique("stage");
      const { one } = createMembers(own, { one: { replies: [{ text: "never", holdUntil: gate }] } });
      const stages = [
        { name: "one", agent: one.definition },
        { name: "two", agent: one.definition },
      ];
      const { id } = await holdfast.jobs.start({ task: "Go", mode: { type: "pipeline", stages } });
      await hold(own, gate);
      return { id, closed: [`${id}.one`], asks: [asking(own, nameOf(one))] };
    },
  ],
  [
    "a part of a fan-out that does not answer",
    async (own) => {
      const gate = unique("part");
      const { one } = createMembers(own, { one: { replies: [{ text: "never", holdUntil: gate }] } });
      const job = await holdfast.jobs.start({
        mode: { type: "fan-out", agents: [one.definition], tasks: ["1"] },
      });
      deaf.add(`${job.id}.`);
      await hold(own, gate);
      return { id: job.id, closed: [], asks: [asking(own, nameOf(one))] };
    },
  ],
  [
    "a reducer that ignores its signal",
    async (own) => {
      const { one } = createMembers(own, { one: { replies: [{ text: "1" }] } });
      const { id } = await holdfast.jobs.start({
        mode: { type: "fan-out", agents: [one.definition], tasks: ["1"], reducer: "stuck" },
      });
      await eventually(() => isActivityRunning(stage, id, "reduce-parts"));
      return { id, closed: [`${id}.part-1`], asks: [asking(own, nameOf(one))] };
    },
  ],
  [
    "the sleep of an autonomous agent",
    async (own) => {
      const { lone } = createMembers(own, {
        lone: { replies: [call("sleep", { seconds: 86_400, reason: "later" }), { text: "Zzz" }] },
      });
      const job = await holdfast.jobs.start({
        task: "Wait",
        mode: { type: "autonomous", agent: lone.definition },
      });
      await eventually(async () => (await job.status()).status === "waiting");
      return { id: job.id, closed: [`${job.id}.work`], asks: [asking(own, nameOf(lone))] };
    },
  ],
  [
    "a lead that waits for its agents",
    async (own) => {
      const gate = unique("member");
      const lead = [call("delegate", { agent: "slow", task: "Wait" }), call("wait_for_agents")];
      const team = new TestTeam(own, lead, { slow: [{ text: "never", holdUntil: gate }] });
      await team.start();
      await hold(own, gate);
      await eventually(() => isActivityRunning(stage, `${team.job}.lead`, "wait_for_agents"));
      const asks = [{ listRequests: () => [...team.countRequests(), ...team.countRequests("slow")] }];
      return { id: team.job, closed: [`${team.job}.lead`, `${team.job}.slow-1`], asks };
    },
  ],
  [
    "the branches of an evaluation",
    async (own) => {
      const gates = [unique("branch"), unique("branch")];
      const says = gates.map((gate) => ({ replies: [{ text: "never", holdUntil: gate }] }));
      const contest = new TestEvaluation(own, says);
      await contest.start("Go");
      await hold(own, ...gates);
      return { id: contest.id, asks: contest.agents };
    },
  ],
  [
    "a branch of an evaluation that does not answer",
    async (own) => {
      const gate = unique("branch");
      const contest = new TestEvaluation(own, [{ replies: [{ text: "never", holdUntil: gate }] }]);
      deaf.add(contest.id);
      await contest.start("Go");
      await hold(own, gate);
      return { id: contest.id, closed: [], asks: contest.agents };
    },
  ],
  [
    "a choice among branches that ignores its signal",
    async (own) => {
      const contest = new TestEvaluation(own, [
        { replies: [{ text: "one" }] },
        { replies: [{ text: "two" }] },
      ]);
      await contest.start("Go", { strategy: { type: "custom", name: "stuck" } });
      await eventually(() => isActivityRunning(stage, contest.id, "select-branch"));
      return { id: contest.id, asks: contest.agents };
    },
  ],
];

/** `npm test` stops runs in the first state, `npm run test:all` in all. */
const QUICK_PLACES = 1;

describe.each(STOP_METHODS)("%s", (_, stop) => {
  test.concurrent.each(isThorough ? PLACES : PLACES.slice(0, QUICK_PLACES))(
    "in %s ends the run, with everything that it has started [LOOP-10, X-01, ABT-01.1-3]",
    async (_place, arrange) => {
      const { id, status = "stopped", closed = [id], asks, behind } = await arrange(await scene());
      const handle = stage.client.workflow.getHandle(id);
      await stop({ handle });
      // The wait may take longer: the server's clock measures the time.
      await handle.result();
      if (isTimed) expect(await measureStopMs(stage, id)).toBeLessThan(LIMIT_MS);
      const described = await handle.describe();
      expect(described.status.name).toBe("COMPLETED");
      expect(described.searchAttributes).toMatchObject({ HoldfastStatus: [status] });
      expect(await listOpenDescendants(stage, id)).toEqual([]);
      const open = () =>
        asks.flatMap((one) => one.listRequests()).filter(({ outcome }) => outcome === "open");
      await eventually(() => open().length === 0, { timeoutMs: 1_000, what: "the end of all requests" });
      for (const session of closed) await expectClosed(session);
      behind?.();
    },
  );
});

/** The terminal event, once, as the last of each loop. */
async function expectClosed(session: string): Promise<void> {
  const loops = await stage.transcript.readLoops(session);
  expect(loops).not.toEqual([]);
  for (const { loopId, status } of loops) {
    const types = (await stage.transcript.readEvents(loopId, 0)).map(({ body }) => body.type);
    expect(types.filter((type) => type === "AgentEnd")).toHaveLength(1);
    expect(types.at(-1)).toBe("AgentEnd");
    expect(status).not.toBe("running");
  }
}
