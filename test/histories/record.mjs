// Records the histories that `replay.test.ts` replays: node test/histories/record.mjs [NAME ...] (after npm run build).
// Then `npx biome check --write test/histories`. Record anew only when no run in flight depends on the old ones; else add a file beside them.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { connect, defineSuite } from "../../dist/client/index.js";
import { AgentDefinition } from "../../dist/schema/definition.js";
import { SqliteTranscript } from "../../dist/store/transcript/sqlite/sqlite-transcript.js";
import {
  createTestAgent,
  startModelServer,
  startTestServer,
  TEST_KEY_NAME,
} from "../../dist/testing/index.js";
import { createWorker } from "../../dist/worker.js";

const asked = {};
const heard = {};
for (const name of ["reducer", "strategy"]) asked[name] = new Promise((resolve) => (heard[name] = resolve));
const hear = (name) => {
  heard[name]();
  return new Promise(() => undefined);
};

const folder = join(dirname(fileURLToPath(import.meta.url)), "recorded");
const home = mkdtempSync(join(tmpdir(), "holdfast-record-"));
const server = await startTestServer();
const model = await startModelServer();
const { address, namespace } = server;
const transcript = await SqliteTranscript.open({ path: join(home, "transcript.db") });
const worker = await createWorker({
  address,
  namespace,
  home,
  transcript,
  hooks: {
    watch: {
      "before-loop": () => true,
      "before-turn": () => true,
      "before-tool": ({ arguments: given }) => given.command !== "echo forbidden",
      "after-tool": () => undefined,
      "after-turn": () => undefined,
      "on-text": ({ text }) => (text === "Done?" ? { type: "continue", text: "Say it once more." } : true),
      "after-loop": () => undefined,
      "after-task": () => undefined,
    },
  },
  // Whoever asks hears of it, and no answer comes.
  reducers: { never: () => hear("reducer") },
  evaluationStrategies: { never: () => hear("strategy") },
  filters: {
    words: (text) => (text.includes("bomb") ? { type: "reject", reason: "no bombs" } : { type: "pass" }),
  },
  secrets: (name) => (name === TEST_KEY_NAME ? "sk-recorded-0123456789" : undefined),
  defaultWorkspace: home,
});
const working = worker.run();
const connection = await Connection.connect({ address });
const client = new Client({ connection, namespace });

const createBashCall = (command) => ({ name: "bash", arguments: { command } });
const list = { name: "list_files", arguments: { path: "." } };
const tools = ["bash", "list_files"];
const TEAM_TOOLS = ["delegate", "check_agents", "wait_for_agents", "steer_agent", "stop_agent"];
const delegate = (agent, task) => ({ name: "delegate", arguments: { agent, task } });
const stage = (name, definitionHash) => ({ name, agent: name, definitionHash });

await record("one-turn", { replies: [{ text: "Good day." }] });
await record("tools", {
  agent: { tools },
  replies: [
    {
      toolCalls: [
        list,
        createBashCall("echo one"),
        createBashCall("echo two"),
        { name: "nope", arguments: {} },
      ],
    },
    { toolCalls: [list] },
    { text: "Done." },
  ],
});
await record("one-by-one", {
  agent: { tools, toolStrategy: { type: "sequential" } },
  replies: [{ toolCalls: [list, createBashCall("echo one"), list] }, { text: "Done." }],
});
await record("steered", {
  replies: [{ text: "One.", holdUntil: "steer" }, { text: "Two." }, { text: "Three." }],
  meanwhile: async (handle) => {
    await model.waitForHold("steer");
    await handle.signal("queueMode", { queue: "steering", mode: "all" });
    await handle.signal("steer", { id: "s1", text: "In French" });
    await handle.signal("followUp", { id: "f1", text: "And then?" });
    model.release("steer");
  },
});
await record("stopped", {
  replies: [{ text: "Never.", holdUntil: "stop" }],
  meanwhile: async (handle) => {
    await model.waitForHold("stop");
    await handle.signal("stop", "enough");
  },
});
await record("cancelled", {
  agent: { tools },
  replies: [{ toolCalls: [createBashCall("echo x > started; sleep 60")] }],
  meanwhile: async (handle) => {
    await pollUntil(async () =>
      (await handle.describe()).raw.pendingActivities?.some((one) => one.activityType?.name === "bash"),
    );
    await handle.cancel();
  },
});
await record("failed", { faults: [{ fault: "auth", times: 9 }] });
await record("retried", {
  faults: [{ fault: "rate-limited", retryAfterMs: 10 }],
  replies: [{ text: "Now." }],
});
await record("limit", {
  agent: { tools, limits: { maxTurns: 1 } },
  replies: [{ toolCalls: [list] }],
});
await record("left-in-inbox", {
  start: { prompt: undefined, definition: undefined },
  signal: { id: "i1", text: "By the way" },
});
await record("continued-as-new", {
  agent: { tools },
  start: { settings: { rotateAfterEvents: 25 } },
  replies: [...Array.from({ length: 6 }, () => ({ toolCalls: [createBashCall("true")] })), { text: "Done." }],
});
await record("interactive", {
  start: { mode: "interactive", idleTimeoutMs: 1500 },
  replies: [{ text: "One." }, { text: "Two." }],
  meanwhile: async (handle) => {
    await pollUntil(async () => (await handle.query("status")).status === "waiting");
    await handle.executeUpdate("prompt", { args: [{ id: "p2", text: "Second" }] });
  },
});

await record("approved", {
  agent: { tools, permissions: { otherwise: "ask" }, approvals: { timeoutMs: 60_000 } },
  replies: [
    {
      toolCalls: [createBashCall("echo one"), createBashCall("echo two"), createBashCall("echo three"), list],
    },
    { toolCalls: [createBashCall("echo four")] },
    { text: "Done." },
  ],
  meanwhile: async (handle) => {
    const waiting = async (calls) => {
      await pollUntil(async () => (await handle.query("status")).approvals.length === calls);
      return (await handle.query("status")).approvals;
    };
    const say = (words) => handle.executeUpdate("approve", { args: [words] });
    const [one, two, , last] = await waiting(4);
    await say({ toolCallId: last.toolCallId, answer: "approve" });
    await say({ toolCallId: two.toolCallId, answer: "deny", reason: "no" });
    await say({ toolCallId: one.toolCallId, answer: "approve", always: true });
    await waiting(1);
    await say({ answer: "approve", arguments: { command: "echo changed" } });
  },
});
await record("approval-timers", {
  agent: { tools, permissions: { otherwise: "ask" } },
  replies: [{ toolCalls: [createBashCall("echo one"), createBashCall("echo two")] }, { text: "Done." }],
  meanwhile: async (handle) => {
    for (const waiting of [2, 1]) {
      await pollUntil(async () => (await handle.query("status")).approvals.length === waiting);
      const [first] = (await handle.query("status")).approvals;
      await handle.executeUpdate("approve", { args: [{ toolCallId: first.toolCallId, answer: "approve" }] });
    }
  },
});
await record("compacted", {
  agent: {
    tools,
    limits: { maxTurns: 7 },
    context: {
      maxContextTokens: 2400,
      systemPromptTokens: 100,
      compaction: { keepFirstTurns: 1, keepRecentTurns: 2, maxSummaryTokens: 200 },
    },
  },
  replies: Array.from({ length: 7 }, () => ({
    text: "All work and no play makes a long day. ".repeat(40),
    toolCalls: [list],
    usage: { input: 0, output: 0 },
  })),
});
await record("overflowed", {
  agent: { tools },
  faults: [{ fault: "overflow", onTurn: 1 }],
  replies: [{ toolCalls: [list] }, { text: "It fits now." }],
});
await record("limits-raised", {
  agent: { tools, limits: { maxTurns: 1 } },
  replies: [{ toolCalls: [list], holdUntil: "raise" }, { text: "Done." }],
  meanwhile: async (handle) => {
    await model.waitForHold("raise");
    await handle.executeUpdate("raiseLimits", { args: [{ maxTurns: 5 }] });
    await handle.signal("compact", { focus: "the end" });
    model.release("raise");
  },
});
await record("moved", {
  agent: { tools },
  replies: [
    { toolCalls: [list], holdUntil: "move" },
    { toolCalls: [createBashCall("echo gone")] },
    { text: "Done." },
  ],
  meanwhile: async (handle, definition) => {
    await model.waitForHold("move");
    const other = AgentDefinition.parse({ ...definition, tools: ["list_files"], systemPrompt: "Another." });
    const definitionHash = await transcript.saveDefinition(other);
    await handle.executeUpdate("updateDefinition", { args: [{ definitionHash, tools: other.tools }] });
    model.release("move");
  },
});
await record("limit-continued", {
  session: "limit",
  agent: { tools },
  start: { prompt: undefined, continuation: { kind: { type: "default" }, limits: { maxTurns: 5 } } },
  replies: [{ toolCalls: [list] }, { text: "Now it is done." }],
});

const watched = [
  "before-loop",
  "before-turn",
  "before-tool",
  "after-tool",
  "after-turn",
  "on-text",
  "after-loop",
  "after-task",
];
await record("hooked", {
  agent: { tools, hooks: Object.fromEntries(watched.map((point) => [point, ["watch"]])) },
  replies: [
    { toolCalls: [createBashCall("echo one"), createBashCall("echo forbidden")] },
    { text: "Done?" },
    { text: "Done." },
  ],
});
await record("filtered", {
  agent: { tools, inputFilters: ["words"] },
  replies: [
    { text: "One.", holdUntil: "filter" },
    { text: "Two.", holdUntil: "filter-again" },
  ],
  meanwhile: async (handle) => {
    await model.waitForHold("filter");
    await handle.signal("steer", { id: "s1", text: "Go on" });
    model.release("filter");
    await model.waitForHold("filter-again");
    await handle.signal("steer", { id: "s2", text: "a bomb" });
    model.release("filter-again");
  },
});
await record("pruned", {
  agent: { tools: [...tools, "prun"], limits: { maxTurns: 4 } },
  replies: [
    { toolCalls: [list] },
    { toolCalls: [{ name: "prun_with_memo", arguments: { tokens: 1, memo: "There was nothing." } }] },
    { text: "Done." },
    { text: "Done." },
  ],
});
await record("reverted", {
  agent: { tools: [...tools, "revert_to_state"], limits: { maxTurns: 4 } },
  replies: [
    { toolCalls: [list] },
    {
      toolCalls: [
        { name: "revert_to_state", arguments: { category: "failure", step: "n0", summary: "No." } },
      ],
    },
    { text: "Done." },
  ],
});
await record("structured", {
  agent: {
    output: {
      type: "json-schema",
      schema: {
        type: "object",
        properties: { answer: { type: "number" } },
        required: ["answer"],
        additionalProperties: false,
      },
    },
  },
  replies: [
    { toolCalls: [{ name: "final_answer", arguments: { answer: "many" } }] },
    { toolCalls: [{ name: "final_answer", arguments: { answer: 42 } }] },
  ],
});
await record("compacted-at-rest", {
  session: "compacted",
  start: { prompt: undefined, continuation: { kind: { type: "compaction" }, focus: "the prices" } },
});

await record("sub-agent-stopped", {
  agent: {
    subAgents: [
      {
        name: "helper",
        description: "helps",
        agent: createTestAgent(model, { model: { headers: { "x-conversation": "helper" } } }),
      },
    ],
  },
  replies: [{ toolCalls: [{ name: "helper", arguments: { task: "Help" } }] }],
  others: { helper: [{ text: "Never.", holdUntil: "helper" }] },
  meanwhile: async (handle) => {
    await model.waitForHold("helper");
    await handle.signal("stop", "enough");
  },
});
await recordJob("pipeline", "pipeline", {
  stages: { draft: [{ text: "A draft." }], edit: [{ text: "A text." }] },
  request: ({ draft, edit }) => ({
    task: "Write",
    stages: [stage("draft", draft), { ...stage("edit", edit), prompt: "Mend: {{input}}" }],
  }),
});
// The second start of the job is the one that stays.
await recordJob("pipeline-resumed", "pipeline", {
  stages: { draft: [{ text: "A draft." }], edit: [{ text: "A text." }] },
  request: ({ draft, edit }) => ({ task: "Write", stages: [stage("draft", draft), stage("edit", edit)] }),
});
await recordJob("pipeline-resumed", "pipeline", {
  stages: { draft: [], edit: [{ text: "A text." }, { text: "A better text." }] },
  request: ({ draft, edit }) => ({
    task: "Write",
    stages: [stage("draft", draft), stage("edit", edit)],
    resume: { from: "edit" },
  }),
});
await recordJob("pipeline-failed", "pipeline", {
  stages: { draft: [{ text: "A draft." }] },
  request: ({ draft }) => ({
    task: "Write",
    stages: [stage("draft", draft), { ...stage("edit", draft), input: { type: "number" } }],
  }),
});
await recordJob("fan-out", "fanOut", {
  stages: { one: [{ text: "One." }], two: [{ text: "Two." }], three: [{ text: "Three." }] },
  request: ({ one, two, three }) => ({
    parts: [one, two, three].map((definitionHash) => ({ agent: "a", definitionHash, task: "Say" })),
    concurrency: 1,
    limits: { maxTurns: 2 },
  }),
});
await recordJob("fan-out-stopped", "fanOut", {
  stages: { one: [{ text: "One.", holdUntil: "fan-out-stopped" }], two: [] },
  request: ({ one, two }) => ({
    parts: [one, two].map((definitionHash) => ({ agent: "a", definitionHash, task: "Say" })),
    concurrency: 1,
  }),
  meanwhile: async (handle) => {
    await model.waitForHold("fan-out-stopped");
    await handle.signal("stop", "enough");
  },
});
await recordJob("autonomous", "autonomous", {
  stages: {
    work: [
      { text: "Where was I?" },
      { toolCalls: [{ name: "sleep", arguments: { seconds: 1, reason: "to wait" } }] },
      { text: "Good night." },
      { toolCalls: [{ name: "sleep", arguments: { seconds: 600, reason: "the build" } }] },
      { text: "Good night." },
      { toolCalls: [{ name: "finish_work", arguments: { summary: "All done." } }] },
      { text: "Bye." },
    ],
  },
  agent: { tools: ["sleep", "finish_work"] },
  request: ({ work }) => ({ task: "Work", agent: "a", definitionHash: work, limits: { maxTurns: 50 } }),
  meanwhile: async (handle) => {
    await pollUntil(async () => (await handle.query("status")).statusText.includes("the build"));
    await handle.signal("wake", "It is green");
  },
});
await recordJob("autonomous-as-new", "autonomous", {
  stages: { work: [{ text: "Hm." }, { text: "Hm." }, { text: "Hm." }, { text: "Hm." }] },
  request: ({ work }) => ({
    task: "Work",
    agent: "a",
    definitionHash: work,
    maxIdleRounds: 4,
    settings: { rotateAfterEvents: 24 },
  }),
});
await recordJob("supervisor", "supervisor", {
  stages: {
    lead: [
      { toolCalls: [delegate("scout", "Look"), delegate("writer", "Write")] },
      { toolCalls: [{ name: "wait_for_agents", arguments: { ids: ["scout-1"] } }] },
      { text: "Enough." },
    ],
    scout: [{ text: "Nothing there." }],
    writer: [{ text: "Never.", holdUntil: "supervisor" }],
  },
  agents: { lead: { tools: TEAM_TOOLS, toolStrategy: { type: "sequential" } } },
  request: ({ lead, scout, writer }) => ({
    task: "Lead",
    lead,
    agents: [
      { name: "scout", description: "looks", definitionHash: scout },
      { name: "writer", description: "writes", definitionHash: writer },
    ],
    limits: { maxTurns: 30 },
  }),
});
await recordJob("supervisor-stopped", "supervisor", {
  stages: {
    lead: [{ toolCalls: [delegate("scout", "Look")] }, { text: "Never.", holdUntil: "lead" }],
    scout: [{ text: "Never.", holdUntil: "scout" }],
  },
  agents: { lead: { tools: TEAM_TOOLS } },
  request: ({ lead, scout }) => ({
    task: "Lead",
    lead,
    agents: [{ name: "scout", description: "looks", definitionHash: scout }],
  }),
  meanwhile: async (handle) => {
    await model.waitForHold("lead");
    await model.waitForHold("scout");
    await handle.signal("stop", "enough");
  },
});
await recordJob("evaluation", "evaluation", {
  stages: { one: [{ text: "One." }], two: [{ text: "Two." }], judge: [{ text: "2" }] },
  request: ({ one, two, judge }) => ({
    prompt: { id: "p1", text: "Choose" },
    agents: [{ definitionHash: one }, { definitionHash: two }],
    strategy: { type: "judge", judge: { definitionHash: judge } },
    limits: { maxTurns: 9 },
  }),
  meanwhile: (handle) => handle.signal("steer", { id: "s1", text: "By the way" }),
});
await recordJob("evaluation-short", "evaluation", {
  stages: { one: [{ text: "One." }], two: [{ text: "Two." }] },
  request: ({ one, two }) => ({
    prompt: { id: "p1", text: "Choose" },
    agents: [{ definitionHash: one }, { definitionHash: two }],
    strategy: { type: "pick-first" },
    limits: { maxTurns: 1 },
  }),
});
await recordJob("exploration", "evaluation", {
  stages: { one: [{ text: "One." }], two: [{ text: "Two." }] },
  request: ({ one, two }) => ({
    prompt: { id: "p1", text: "Try" },
    agents: [{ definitionHash: one }, { definitionHash: two }],
    strategy: { type: "keep" },
  }),
});
await recordJob("evaluation-stopped", "evaluation", {
  stages: { one: [{ text: "One." }], two: [{ text: "Never.", holdUntil: "branch" }], judge: [] },
  request: ({ one, two, judge }) => ({
    prompt: { id: "p1", text: "Choose" },
    agents: [{ definitionHash: one }, { definitionHash: two }],
    strategy: { type: "judge", judge: { definitionHash: judge } },
  }),
  meanwhile: async (handle) => {
    await model.waitForHold("branch");
    await pollUntil(async () => (await handle.query("status")).branches[0].status === "answered");
    await handle.signal("stop", "enough");
  },
});
await recordJob("reducer-stopped", "fanOut", {
  stages: { one: [{ text: "One." }] },
  request: ({ one }) => ({ parts: [{ agent: "a", definitionHash: one, task: "Say" }], reducer: "never" }),
  meanwhile: async (handle) => {
    await asked.reducer;
    await handle.signal("stop", "enough");
  },
});
await recordJob("strategy-stopped", "evaluation", {
  stages: { one: [{ text: "One." }], two: [{ text: "Two." }] },
  request: ({ one, two }) => ({
    prompt: { id: "p1", text: "Choose" },
    agents: [{ definitionHash: one }, { definitionHash: two }],
    strategy: { type: "custom", name: "never" },
  }),
  meanwhile: async (handle) => {
    await asked.strategy;
    await handle.signal("stop", "enough");
  },
});

await recordSuite("suite", {
  configurations: { plain: {}, tools: { tools: ["list_files"] } },
  conversations: { plain: [{ text: "One." }], tools: [{ toolCalls: [list] }, { text: "Done." }] },
  cases: 3,
});
await recordSuite("suite-paused", {
  configurations: { plain: {}, tools: { tools: ["list_files"] } },
  conversations: {
    plain: [{ text: "One.", holdUntil: "suite-plain" }],
    tools: [{ toolCalls: [list], holdUntil: "suite-tools" }, { text: "Done." }],
  },
  cases: 2,
  meanwhile: async (run, handle) => {
    await model.waitForHold("suite-plain");
    await run.pause();
    await run.change({ concurrency: 3 });
    model.release("suite-plain");
    model.release("suite-tools");
    await pollUntil(async () => (await handle.query("status")).parts === 0);
    await run.resume();
  },
});
await recordSuite("suite-stopped", {
  configurations: { plain: {}, tools: { tools: ["list_files"] } },
  conversations: {
    plain: [{ text: "Never.", holdUntil: "suite-never" }],
    tools: [{ text: "Never.", holdUntil: "suite-never" }],
  },
  cases: 2,
  meanwhile: async (run) => {
    await model.waitForHold("suite-never");
    await run.stop("enough");
  },
});
await recordSuite("suite-as-new", {
  configurations: { plain: {}, tools: { tools: ["list_files"] } },
  conversations: { plain: [{ text: "One." }], tools: [{ toolCalls: [list] }, { text: "Done." }] },
  cases: 12,
  settings: { rotateAfterEvents: 20 },
});

worker.shutdown();
await working;
await transcript.close();
await connection.close();
await model.stop();
await server.stop();
rmSync(home, { recursive: true });
console.log(`${readdirSync(folder).length} recordings in ${folder}`);

/** Runs one shape of run and writes the history of each of its Temporal runs. */
async function record(
  name,
  { agent = {}, replies = [], others = {}, faults = [], start = {}, signal, meanwhile, session = name },
) {
  if (!isWanted(name)) return;
  const says = ([of, replies]) => ({ match: ({ conversation }) => conversation === of, replies });
  model.script({
    conversations: [{ ...says([name, replies]), faults }, ...Object.entries(others).map(says)],
  });
  const definition = createTestAgent(model, { ...agent, model: { headers: { "x-conversation": name } } });
  const options = {
    taskQueue: worker.taskQueue,
    workflowId: session,
    workflowTaskTimeout: "5 seconds",
    args: [{ prompt: { id: "p1", text: "Go" }, definition, ...start }],
  };
  const handle =
    signal === undefined
      ? await client.workflow.start("agent", options)
      : await client.workflow.signalWithStart("agent", { ...options, signal: "steer", signalArgs: [signal] });
  const latest = client.workflow.getHandle(session);
  await meanwhile?.(latest, definition);
  await keep(name, session, handle.firstExecutionRunId ?? handle.signaledRunId);
}

/** Runs one job or evaluation and writes its history: `stages` is what each of its agents says. */
async function recordJob(name, type, { stages, agent = {}, agents = {}, request, meanwhile }) {
  if (!isWanted(name)) return;
  scriptConversations(name, stages);
  const hashes = {};
  for (const key of Object.keys(stages)) {
    const definition = createConversingAgent(name, key, { ...agent, ...agents[key] });
    hashes[key] = await transcript.saveDefinition(definition);
  }
  const handle = await client.workflow.start(type, {
    taskQueue: worker.taskQueue,
    workflowId: name,
    workflowTaskTimeout: "5 seconds",
    args: [request(hashes)],
  });
  await meanwhile?.(client.workflow.getHandle(name));
  await keep(name, name, handle.firstExecutionRunId);
}

/** Runs a suite of a few cases, and writes the histories of the run and of the first part of each kind. */
async function recordSuite(name, { configurations, conversations, cases, settings = {}, meanwhile }) {
  if (!isWanted(name)) return;
  scriptConversations(name, conversations);
  const holdfast = await connect({ address, namespace, home, taskQueue: worker.taskQueue, settings });
  const suite = defineSuite({
    name,
    configurations: Object.entries(configurations).map(([key, agent]) => ({
      name: key,
      agent: createConversingAgent(name, key, agent),
    })),
    cases: Array.from({ length: cases }, (_, at) => ({ id: `c${at}`, input: `Say ${at}`, expected: "One." })),
    scorers: [{ type: "exact" }],
    concurrency: 2,
  });
  const run = await holdfast.evaluations.start(suite);
  const handle = client.workflow.getHandle(run.id);
  const { firstExecutionRunId: first } = (await handle.fetchHistory()).events[0]
    .workflowExecutionStartedEventAttributes;
  await meanwhile?.(run, handle);
  await keep(name, run.id, first);
  const { events } = await client.workflow.getHandle(run.id, first).fetchHistory();
  const parts = events.flatMap(({ childWorkflowExecutionStartedEventAttributes: one }) =>
    one == null ? [] : [one.workflowExecution],
  );
  for (const kind of ["answer", "agent"]) {
    for (const { workflowId, runId } of parts) {
      const part = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      if (!historyToJSON(part).includes(kind === "answer" ? "answer-cells" : "prepare-cells")) continue;
      await keep(`${name}-part-${kind}`, workflowId, runId);
      break;
    }
  }
  await holdfast.close();
}

/** Scripts what each agent of a recording is told. */
function scriptConversations(name, conversations) {
  model.script({
    conversations: Object.entries(conversations).map(([key, replies]) => ({
      match: ({ conversation }) => conversation === `${name}-${key}`,
      replies,
    })),
  });
}

/** Creates the agent of a recording that `scriptConversations` answers. */
function createConversingAgent(name, key, options) {
  return createTestAgent(model, { ...options, model: { headers: { "x-conversation": `${name}-${key}` } } });
}

function isWanted(name) {
  const wanted = process.argv.slice(2);
  return wanted.length === 0 || wanted.includes(name);
}

/** Writes the history of each Temporal run of a workflow that comes to its end. */
async function keep(name, session, first) {
  const latest = client.workflow.getHandle(session);
  const result = await latest.result().catch((error) => error.cause?.details?.[0] ?? String(error));
  await pollUntil(async () => (await latest.describe()).status.name !== "RUNNING");
  if (process.env.RESULTS) console.log(JSON.stringify({ name, result }));
  let runId = first;
  for (let part = 0; runId; part++) {
    const history = await client.workflow.getHandle(session, runId).fetchHistory();
    const file = join(folder, `${part === 0 ? name : `${name}-${part}`}.json`);
    writeFileSync(file, `${maskHistory(historyToJSON(history))}\n`);
    runId = history.events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
}

/** Who recorded it, and where, is nobody's business, and makes the files larger. */
function maskHistory(json) {
  const named = json.replaceAll(worker.id, "worker");
  return JSON.stringify(JSON.parse(named), (key, value) =>
    ["identity", "stackTrace"].includes(key) ? undefined : value,
  );
}

async function pollUntil(holds) {
  const giveUpAt = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error("it did not come");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
