import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  connect,
  type Holdfast,
  messagesFromJson,
  messagesToJson,
  type Session,
  SessionRecorder,
  sessionFromJson,
  sessionToJson,
} from "../../src/client/index.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createAgentTree, createTaskCall, findChildSession } from "./support/agent-tree.ts";
import { Gates } from "./support/gates.ts";
import { connectClient, runCommandLine } from "./support/test-client.ts";
import { openTestEnvironment, TEST_KEY, type TestEnvironment } from "./support/test-environment.ts";

const gates = new Gates();
let stage: TestEnvironment;
let client: Holdfast;
/** Another machine: a home of its own on the same server. */
let elsewhere: string;
let other: Holdfast;

beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [gates.createTool()] });
  client = await connectClient(stage);
  elsewhere = await mkdtemp(join(tmpdir(), "holdfast-elsewhere-"));
  const { address, namespace, taskQueue } = stage;
  other = await connect({ address, namespace, taskQueue, home: elsewhere });
});
afterAll(async () => {
  await client.close();
  await other.close();
  await stage.close();
  await rm(elsewhere, { recursive: true, force: true });
});

const hold = (gate: string) => ({ toolCalls: [{ name: "hold", arguments: { gate } }] });
async function readMessages(session: Session): Promise<readonly AgentMessage[]> {
  return (await session.messages.list()).map(({ message }) => message);
}

const said = (text: string): AgentMessage => ({
  role: "user",
  content: [{ type: "text", text }],
  timestamp: 3,
});

describe("a complete session", () => {
  thoroughTest(
    "has its loops with messages, turns and events, and no key [SES-01.1, SES-01.3, SES-02.1-2, SES-03.1, SES-04.1-2, SES-05.1, SES-06, SES-07, SES-13.1, DBG-03.1]",
    async () => {
      gates.get("whole").open();
      const session = stage.session({
        replies: [hold("whole"), { text: "Done." }, { text: "Again." }],
        agent: { tools: ["hold"] },
      });
      await session.run("Go");
      await session.run("More");
      const record = await client.session(session.id).record();
      expect(record).toMatchObject({
        sessionId: session.id,
        scope: "ephemeral",
        formation: { type: "first_loop" },
      });
      const [first, second] = record.loops;
      expect(first).toMatchObject({ status: "completed", childrenLoopIds: [second?.loopId] });
      expect(second).toMatchObject({ parentLoopId: first?.loopId, outcome: { type: "answered" } });
      expect(first?.messages.map(({ role }) => role)).toEqual([
        "user",
        "assistant",
        "toolResult",
        "assistant",
      ]);
      expect(
        first?.turns.map(({ triggeredBy, toolResults, inputMessages }) => [
          triggeredBy,
          toolResults.length,
          inputMessages.length,
        ]),
      ).toEqual([
        ["user", 1, 1],
        ["continuation", 0, 0],
      ]);
      expect(first?.events.map(({ sequence }) => sequence)).toEqual(first?.events.map((_, index) => index));
      expect(first?.config).toMatchObject({ api: "anthropic_messages", contextWindow: expect.any(Number) });
      expect(record.activeChain).toEqual([first?.loopId, second?.loopId]);
      expect(record.totals).toMatchObject({ loops: 2, turns: 3 });
      expect(record.totals.usage.totalTokens).toBeGreaterThan(0);
      const text = sessionToJson(record);
      expect(text).not.toContain(TEST_KEY);
      expect(text).not.toContain("${");
      // The sources' format has no fields for these.
      const { headBranch: _, activeChain: __, totals: ___, storedLoops: ____, title, ...plain } = record;
      expect(title).toBe("Go");
      expect(sessionFromJson(text)).toEqual(JSON.parse(JSON.stringify(plain)));
    },
  );

  thoroughTest("shows the loops of a session that was cut off as aborted [SES-03.1-2, SES-06]", async () => {
    const session = stage.session({ replies: [hold("never")], agent: { tools: ["hold"] } });
    await session.start("Go");
    await eventually(async () =>
      (await stage.transcript.readSteps(session.id)).some(({ kind }) => kind === "hold") ? true : undefined,
    );
    expect((await client.session(session.id).record()).loops[0]?.status).toBe("running");
    await session.handle.terminate("for the test");
    const record = await eventually(async () => {
      const now = await client.session(session.id).record();
      return now.loops[0]?.status === "aborted" ? now : undefined;
    });
    expect(record.loops[0]).toMatchObject({ messages: [] });
    // Reading has repaired the record itself.
    expect(await stage.transcript.readSession(session.id)).toMatchObject({ status: "aborted" });
    expect(await stage.transcript.readLoops(session.id)).toMatchObject([{ status: "aborted" }]);
    gates.get("never").open();
  });

  const LOOKS: readonly (readonly [string, (session: string) => Promise<unknown>])[] = [
    ["messages", (session) => client.session(session).messages.list()],
    ["status", (session) => client.session(session).status()],
    ["sessions", () => client.sessions.list({ limit: 500 })],
    ["the command line", () => runCommandLine(stage, "list")],
  ];

  thoroughTest.each(LOOKS)(
    "that was terminated is repaired when it is read by %s [SES-03.2]",
    async (look, see) => {
      const gate = `terminated-${look}`;
      const session = stage.session({ replies: [hold(gate)], agent: { tools: ["hold"] } });
      await session.start("Go");
      await gates.get(gate).arrived;
      await see(session.id);
      expect(await stage.transcript.readLoops(session.id)).toMatchObject([{ status: "running" }]);
      await session.handle.terminate("for the test");
      await see(session.id);
      expect(await stage.transcript.readLoops(session.id)).toMatchObject([
        { status: "aborted", endedAtMs: expect.any(Number) },
      ]);
      expect(await stage.transcript.readSession(session.id)).toMatchObject({ status: "aborted" });
      gates.get(gate).open();
    },
  );

  thoroughTest("links callers and those they have called both ways [SES-10.1-3]", async () => {
    const parent = createAgentTree(
      stage,
      [{ toolCalls: [createTaskCall("scout", "Look")] }, { text: "Told." }],
      {
        scout: [{ text: "Seen." }],
      },
    );
    await parent.run("Go");
    const record = await client.session(parent.id).record();
    const [ref] = record.loops[0]?.childLoopRefs ?? [];
    expect(ref).toMatchObject({ toolName: "scout" });
    const child = await client.session(ref?.childSessionId ?? "").record();
    expect(child.parentSpawnRef).toMatchObject({ parentSessionId: parent.id, toolCallId: ref?.toolCallId });
    expect(child.loops[0]?.loopId).toBe(ref?.childLoopId);
  });

  thoroughTest(
    "links a child to its call from the start: also while the call has not ended, after the child has [SES-11]",
    async () => {
      const parent = createAgentTree(
        stage,
        [
          {
            toolCalls: [createTaskCall("scout", "Look"), { name: "hold", arguments: { gate: "late link" } }],
          },
          { text: "Told." },
        ],
        { scout: [{ text: "Seen." }] },
        { tools: ["hold"] },
      );
      await parent.start("Go");
      const { id, spawn } = await findChildSession(stage, parent);
      const childRun = stage.client.workflow.getHandle(id);
      await childRun.result();
      const [calling] = await stage.transcript.readLoops(parent.id);
      const link = {
        parentSessionId: parent.id,
        parentLoopId: calling?.loopId,
        toolCallId: spawn?.toolCallId,
        toolName: "scout",
      };
      expect((await parent.readEventTypes()).includes("ToolExecutionEnd")).toBe(false);
      expect(await client.session(id).record()).toMatchObject({
        parentSpawnRef: link,
        loops: [{ status: "completed" }],
      });
      gates.get("late link").open();
      await parent.readResult();
      expect((await client.session(id).record()).parentSpawnRef).toEqual(link);
      const [ref] = (await client.session(parent.id).record()).loops[0]?.childLoopRefs ?? [];
      expect(ref).toMatchObject({ toolCallId: spawn?.toolCallId, childSessionId: id });
    },
  );

  test("is the same for a reader that records it as it happens [SES-14.1, SES-14.3, SES-14.5, SES-15.1, DBG-04]", async () => {
    const session = stage.session({ replies: [{ text: "One." }] });
    await session.run("Go");
    const recorder = new SessionRecorder();
    for await (const { event } of client.session(session.id).events({ from: "session" }))
      recorder.onEvent(event);
    const live = recorder.getSession(session.id);
    recorder.abortOpenLoops();
    const [loop] = live?.loops ?? [];
    const [kept] = (await client.session(session.id).record()).loops;
    expect(loop?.messages).toEqual(kept?.messages);
    expect(loop?.turns).toEqual(kept?.turns);
    // Chunks of answers are left out.
    expect(loop?.events.some(({ event }) => event.type === "MessageUpdate")).toBe(false);
    expect(recorder.drainCompleted().map(({ sessionId }) => sessionId)).toEqual([session.id]);
    expect(recorder.sessions).toEqual([]);
  });
});

describe("a session moved elsewhere", () => {
  test("in the middle of a call, by command line, continues there under another id [HITL-02.3]", async () => {
    const session = stage.session({
      replies: [hold("mid"), { text: "Here." }, { text: "There." }],
      agent: { tools: ["hold"] },
    });
    await session.start("Go");
    await eventually(async () =>
      (await stage.transcript.readSteps(session.id)).some(({ kind }) => kind === "hold") ? true : undefined,
    );
    const file = join(elsewhere, "session.jsonl");
    const out = await runCommandLine(stage, "export", session.id, "-o", file, "--json");
    expect(out).toMatchObject({ code: 0 });
    const busy = await runCommandLine(stage, "import", file);
    expect(busy).toMatchObject({ code: 0 });
    expect(busy.err).toContain("already exists with the same content");
    const refused = await other.sessions.import(file).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "session-busy" });
    gates.get("mid").open();
    expect(await session.readResult()).toMatchObject({ text: "Here." });
    const gone = await runCommandLine(stage, "import", file);
    expect(gone).toMatchObject({ code: 2 });
    expect(gone.err).toContain("differs from the file");

    const imported = await other.sessions.import(file);
    expect(imported).toMatchObject({ session: session.id, wasImported: false });
    expect(await other.sessions.import(file)).toMatchObject({ wasImported: true });
    expect((await other.session(session.id).messages.list()).map(({ message }) => message.role)).toEqual([
      "user",
      "assistant",
    ]);
    expect((await other.session(session.id).record()).loops[0]?.status).toBe("aborted");
    const copy = await client.sessions.import(file, { as: `${session.id}-copy` });
    await (await client.session(copy.session).continue()).result();
    const roles = (await client.session(copy.session).messages.list()).map(({ message }) => message.role);
    expect(roles.slice(0, 2)).toEqual(["user", "assistant"]);
    expect(roles.at(-1)).toBe("assistant");
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace('"Go"', '"No"'));
    const damaged = await runCommandLine(stage, "import", file, "--new-ids");
    expect(damaged.code).toBe(2);
    expect(damaged.err).toMatch(/Nothing of .* was imported: line \d+: its checksum is wrong/);
    expect(await readdir(elsewhere)).not.toContain("session.jsonl.part");
  });

  thoroughTest(
    "an export to a location that is not writable gives the reason, and leaves no file",
    async () => {
      const session = stage.session({ replies: [{ text: "One." }] });
      await session.run("Go");
      const missing = join(elsewhere, "no-such-folder", "session.jsonl");
      const nowhere = await runCommandLine(stage, "export", session.id, "-o", missing);
      expect(nowhere.code).toBe(2);
      expect(nowhere.err).toContain(`cannot be written to ${missing}: the folder`);
      const folder = await runCommandLine(stage, "export", session.id, "-o", elsewhere);
      expect(folder.code).toBe(2);
      expect(folder.err).toContain("it is a folder");
      expect(nowhere.err + folder.err).not.toMatch(/\n\s+at |node:internal/);
      expect((await readdir(elsewhere)).filter((name) => name.includes(".part-"))).toEqual([]);
    },
  );

  test("as a snapshot without keys, and as the portable session file [HITL-01.1-2, HITL-02.1-2]", async () => {
    const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }] });
    await session.run("Go");
    const point = await client.session(session.id).checkpoints.create();
    expect(point).toMatchObject({ sessionId: session.id, lastLoopId: expect.any(String) });
    expect(JSON.stringify(point)).not.toContain("API_KEY");
    const resumed = await client.sessions.resume(point, { agent: session.definition });
    const [preload] = (await resumed.record()).loops;
    expect(preload).toMatchObject({ parentLoopId: point.lastLoopId, continuationKind: { type: "branch" } });
    await client
      .start({ agent: session.definition, session: resumed.id, prompt: "On" })
      .then((run) => run.result());
    expect(session.listSeenMessages(1)).toEqual(["user: Go", "assistant: One.", "user: On"]);

    const saved = await client.session(session.id).record();
    const restored = await client.sessions.restore(sessionFromJson(sessionToJson(saved)), {
      agent: session.definition,
      newIds: true,
    });
    const again = await client.session(restored.session).record();
    expect(again.agentId).toBe(saved.agentId);
    expect(saved.agentId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}$/);
    const told: string[] = [];
    for await (const { event } of client.session(resumed.id).events()) {
      if (event.type === "AgentStart") told.push(event.agentId);
    }
    expect(told).toHaveLength(1);
    // One id of the agent: in the record, the checkpoint, the session that was created from it, and in its events.
    expect(new Set([point.agentId, (await resumed.record()).agentId, ...told])).toEqual(
      new Set([saved.agentId]),
    );
    const older = await client.sessions.resume(
      { ...point, agentId: "test-agent" },
      { agent: session.definition },
    );
    expect((await older.record()).agentId).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect(again.loops.map(({ messages }) => messages.map(({ role }) => role))).toEqual([
      ["user", "assistant"],
    ]);
    expect(again.loops[0]?.turns).toHaveLength(1);
    await client
      .start({ agent: session.definition, session: restored.session, prompt: "And" })
      .then((run) => run.result());
    expect(session.listSeenMessages(2)).toEqual(["user: Go", "assistant: One.", "user: And"]);
  });
});

describe("a conversation changed from outside", () => {
  thoroughTest(
    "is extended, replaced, restored and started over; the earlier content stays [CTX-18.2, PER-01.1-2, PER-06.1-3]",
    async () => {
      const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }] });
      await session.run("Go");
      const handle = client.session(session.id);
      const saved = messagesToJson(await readMessages(handle));
      await handle.messages.append(said("By the way"));
      await session.run("More");
      expect(session.listSeenMessages(1)).toEqual([
        "user: Go",
        "assistant: One.",
        "user: By the way",
        "user: More",
      ]);
      await handle.messages.clear();
      await session.run("Anew");
      expect(session.listSeenMessages(2)).toEqual(["user: Anew"]);
      await handle.messages.replace(messagesFromJson(saved));
      expect(messagesToJson(await readMessages(handle))).toBe(saved);
      const [first] = (await handle.record()).loops;
      expect(first?.messages).toHaveLength(2);
    },
  );

  test("may precede a session's first run, which continues it [PER-01.3, X-34.2]", async () => {
    // The first answer of the conversation exists already.
    const session = stage.session({ replies: [{ text: "Never asked." }, { text: "Ada." }] });
    const { definition: agent, id } = session;
    const messages: AgentMessage[] = [
      said("My name is Ada."),
      {
        role: "assistant",
        content: [{ type: "text", text: "Hello, Ada." }],
        stopReason: "stop",
        model: "another-model",
        provider: "another-vendor",
        usage: { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
        timestamp: 4,
      },
    ];
    const begun = await client.sessions.create({ agent, session: id, messages });
    expect(begun.id).toBe(id);
    expect(await readMessages(begun)).toEqual(messages);
    expect(session.listRequests()).toEqual([]);
    const run = await client.start({ agent, session: id, prompt: "What is my name?" });
    expect(await run.result()).toMatchObject({ text: "Ada." });
    expect(session.listSeenMessages(0)).toEqual([
      "user: My name is Ada.",
      "assistant: Hello, Ada.",
      "user: What is my name?",
    ]);
    const loops = (await begun.record()).loops;
    expect(loops.map(({ turns, messages: own }) => [turns.length, own.length])).toEqual([
      [0, 2],
      [1, 2],
    ]);
    expect(loops[1]?.parentLoopId).toBe(loops[0]?.loopId);
    await expect(client.sessions.create({ agent, session: id, messages })).rejects.toThrow("already exists");
    expect(await begun.messages.list()).toHaveLength(4);
  });

  test("is rejected while a run is open; a reset ends it first [PER-05.1-2]", async () => {
    const session = stage.session({
      replies: [hold("reset"), { text: "Fresh." }],
      agent: { tools: ["hold"] },
    });
    await session.start("Go");
    await eventually(async () =>
      (await stage.transcript.readSteps(session.id)).some(({ kind }) => kind === "hold") ? true : undefined,
    );
    const handle = client.session(session.id);
    await expect(handle.messages.clear()).rejects.toMatchObject({ code: "session-busy" });
    await handle.followUp("later");
    await handle.reset();
    expect(await client.session(session.id).messages.list()).toEqual([]);
    expect(await stage.transcript.readInbox(session.id)).toEqual([]);
    gates.get("reset").open();
    await session.run("Hello");
    expect(session.listSeenMessages(1)).toEqual(["user: Hello"]);
  });
});

describe("when the server has deleted a run", () => {
  test("its result, status, list, messages and events come from the transcript", async () => {
    const session = stage.session({ replies: [{ text: "Kept." }] });
    const result = await session.run("Go");
    // In another namespace the server knows no run, as after its retention period.
    const { address, home, taskQueue } = stage;
    const later = await connect({ address, home, taskQueue, namespace: "temporal-system" });
    const handle = later.session(session.id);
    expect(await handle.result()).toEqual(result);
    expect(await handle.status()).toMatchObject({ status: "completed", source: "transcript" });
    expect(
      (await later.sessions.list({ limit: 500 })).sessions.find((one) => one.session === session.id),
    ).toMatchObject({
      status: "completed",
    });
    expect(await handle.messages.list()).toHaveLength(2);
    const types: string[] = [];
    for await (const { event } of handle.events({ from: "session" })) types.push(event.type);
    expect([types[0], types.at(-1)]).toEqual(["AgentStart", "AgentEnd"]);
    await expect(later.session("never-was").result()).rejects.toMatchObject({ code: "session-unknown" });
    await later.close();
  });
});

describe("the deletion of a session", () => {
  test("includes its sub-agents, and its history if requested; it is rejected while a run is open", async () => {
    const parent = createAgentTree(
      stage,
      [{ toolCalls: [createTaskCall("scout", "Look")] }, { text: "Told." }, hold("open")],
      {
        scout: [{ text: "Seen." }],
      },
      { tools: ["hold"] },
    );
    await parent.run("Go");
    await parent.start("On");
    await eventually(async () =>
      (await stage.transcript.readSteps(parent.id)).some(({ kind }) => kind === "hold") ? true : undefined,
    );
    const refused = await runCommandLine(stage, "delete", parent.id, "--yes");
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("--stop");
    expect((await runCommandLine(stage, "delete", parent.id)).err).toContain("--yes");
    const [child] = await stage.transcript.findSessions({ limit: 9, spawnedBy: parent.id });
    const done = await runCommandLine(stage, "delete", parent.id, "--yes", "--stop", "--history", "--json");
    expect(JSON.parse(done.out)).toMatchObject({ type: "deleted", sessions: [parent.id, child?.id] });
    for (const id of [parent.id, child?.id ?? ""]) {
      expect(await stage.transcript.readSession(id)).toBeUndefined();
    }
    await expect(client.session(parent.id).delete()).rejects.toMatchObject({ code: "session-unknown" });
  });
});

describe("sessions are found", () => {
  thoroughTest("by text and by their properties", async () => {
    const session = stage.session({ replies: [{ text: "The zeppelin landed." }], agent: { name: "pilot" } });
    await session.run("Where is the airship?");
    const hits = await runCommandLine(stage, "search", "zeppel*", "--agent", "pilot", "--json");
    expect(JSON.parse(hits.out)).toMatchObject({ session: session.id, position: 1, role: "assistant" });
    expect((await runCommandLine(stage, "search", "zeppelin", "--since", "2999-01-01")).err).toContain(
      "No messages match",
    );
    // The server's list of open runs is late by a moment.
    await expect
      .poll(async () => (await client.sessions.list({ agent: "pilot", since: new Date(0) })).sessions)
      .toMatchObject([{ session: session.id, status: "completed", turns: 1, loops: 1 }]);
    const first = await client.sessions.list({ limit: 1 });
    const second = await client.sessions.list({ limit: 1, after: first.after ?? "" });
    expect(second.sessions[0]?.session).not.toBe(first.sessions[0]?.session);
    await expect(client.sessions.list({ after: "elsewhere" })).rejects.toMatchObject({
      code: "input-invalid",
    });
    const listed = await runCommandLine(stage, "list", "--agent", "pilot");
    expect(listed.out).toContain(session.id);
  });
});

describe("a retention policy", () => {
  test("deletes what it states, and spares what is retained or open [SES-20.1]", async () => {
    const name = `kept-${process.pid}`;
    const ended = [0, 1, 2].map(() => stage.session({ replies: [{ text: "Bye." }], agent: { name } }));
    for (const one of ended) await one.run("Go");
    const open = stage.session({ replies: [hold("apply-retention")], agent: { name, tools: ["hold"] } });
    await open.start("Go");
    await eventually(async () =>
      (await stage.transcript.readSteps(open.id)).some(({ kind }) => kind === "hold") ? true : undefined,
    );
    await client.retention.setRetained(ended[0]!.id);
    const set = await runCommandLine(
      stage,
      "retention",
      "set",
      "--agent",
      name,
      "--count",
      "1",
      "--cron",
      "0 4 1 1 *",
      "--json",
    );
    expect(JSON.parse(set.out)).toMatchObject({ policy: { rules: [{ agent: name, maxSessions: 1 }] } });
    const policy = { rules: [{ agent: name, maxSessions: 0 }] };
    const would = await client.retention.run({ policy, dryRun: true });
    expect(would.sessions.map((one) => one.session).sort()).toEqual([ended[1]!.id, ended[2]!.id].sort());
    expect(await stage.transcript.readSession(ended[1]!.id)).toBeDefined();
    const ran = await client.retention.run({ policy });
    expect(ran).toMatchObject({ deleted: 2, retained: 2 });
    expect(await stage.transcript.readSession(ended[1]!.id)).toBeUndefined();
    expect(await stage.transcript.readSession(ended[0]!.id)).toBeDefined();
    expect(await stage.transcript.readSession(open.id)).toBeDefined();
    gates.get("apply-retention").open();
    await runCommandLine(stage, "retention", "set", "--agent", name, "--off");
    expect(await client.retention.get()).toBeUndefined();
    await expect(client.retention.run()).rejects.toMatchObject({ code: "input-invalid" });
  });

  thoroughTest(
    "is carried out by its schedule, and spares sessions of an agent that retains them [SES-20.1-2, CFG-19]",
    async () => {
      const name = `nightly-${process.pid}`;
      const bye = (agent: object) =>
        stage.session({ replies: [{ text: "Bye." }, { text: "Bye." }], agent: { name, ...agent } });
      const [plain, kept] = [bye({}), bye({ sessionScope: "persistent" })];
      for (const one of [plain, kept]) await one.run("Go");
      const loaded = await client.sessions.create({ agent: kept.definition, messages: [said("Hello")] });
      const fork = await client.session(plain.id).branches.fork({ as: `${plain.id}-kept` });
      const forked = fork.session;
      await client
        .start({ agent: kept.definition, session: forked, prompt: "On" })
        .then((run) => run.result());
      expect((await client.session(kept.id).record()).scope).toBe("persistent");

      await client.retention.set({ rules: [{ agent: name, maxSessions: 0 }] }, { cron: "0 4 1 1 *" });
      const schedule = stage.client.schedule.getHandle(`holdfast-retention-${stage.taskQueue}`);
      await schedule.trigger();
      const workflowId = await eventually(async () => {
        const [ran] = (await schedule.describe()).info.recentActions;
        return ran?.action.workflow.workflowId;
      });
      const ran: unknown = await stage.client.workflow.getHandle(workflowId).result();
      expect(ran).toMatchObject({ deleted: 1, retained: 3 });
      expect(await stage.transcript.readSession(plain.id)).toBeUndefined();
      // The user's setting for one session overrides its agent's.
      await client.retention.setRetained(kept.id, false);
      expect(await client.retention.run()).toMatchObject({ deleted: 1, retained: 2 });
      expect(await stage.transcript.readSession(kept.id)).toBeUndefined();
      for (const id of [loaded.id, forked]) expect(await stage.transcript.readSession(id)).toBeDefined();
      await client.retention.remove();
    },
  );
});
