import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { messagesFromJson, messagesToJson } from "../../src/client/interop/saved-messages.ts";
import { sessionFromJson, sessionToJson } from "../../src/client/interop/saved-session.ts";
import { FileSessionStore } from "../../src/client/interop/session-store.ts";
import { type AgentMessage, StopReason } from "../../src/schema/message.ts";
import type { RecordedSession } from "../../src/schema/recorded-session.ts";
import { anyCodePoint } from "../support/any-code-point.ts";
import { getRunCount } from "../support/test-depth.ts";

const RUNS = getRunCount(500);

const counter = fc.nat(1e9);
const usage = fc.record({
  input: counter,
  output: counter,
  reasoning: counter,
  cacheRead: counter,
  cacheWrite: counter,
  totalTokens: counter,
});
const timestamp = fc.nat(2e12);
const turnId = fc.record({ loopId: fc.string(), turnIndex: fc.nat(99) });
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const part = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: fc.string({ unit: anyCodePoint }) }),
  fc.record({ type: fc.constant("image" as const), data: fc.base64String(), mimeType: fc.string() }),
  fc.record(
    {
      type: fc.constant("thinking" as const),
      thinking: fc.string(),
      signature: fc.string(),
      redacted: fc.boolean(),
    },
    { requiredKeys: ["type", "thinking"] },
  ),
  fc.record(
    {
      type: fc.constant("toolCall" as const),
      id: fc.string(),
      vendorId: fc.string(),
      name: fc.string(),
      // Keys that look like ours belong to the model.
      arguments: fc.oneof(json, fc.constant({ tool_call_id: 1, cache_read: { stop_reason: "x" } })),
    },
    { requiredKeys: ["type", "id", "name", "arguments"] },
  ),
);
const content = fc.array(part, { maxLength: 4 });
const anyMessage = fc.oneof(
  fc.record(
    { role: fc.constant("user" as const), content, timestamp, turnId },
    {
      requiredKeys: ["role", "content", "timestamp"],
    },
  ),
  fc.record(
    {
      role: fc.constant("assistant" as const),
      content,
      stopReason: fc.constantFrom(...StopReason.options),
      model: fc.string(),
      provider: fc.string(),
      usage,
      timestamp,
      errorMessage: fc.string(),
      responseId: fc.string(),
      turnId,
    },
    { requiredKeys: ["role", "content", "stopReason", "model", "provider", "usage", "timestamp"] },
  ),
  fc.record(
    {
      role: fc.constant("toolResult" as const),
      toolCallId: fc.string(),
      toolName: fc.string(),
      content,
      isError: fc.boolean(),
      details: fc.oneof(json, fc.constant({ is_error: true })),
      timestamp,
      childLoopId: fc.string(),
      turnId,
    },
    { requiredKeys: ["role", "toolCallId", "toolName", "content", "isError", "timestamp"] },
  ),
  fc.record(
    { role: fc.constant("extension" as const), kind: fc.string(), data: json, timestamp },
    { requiredKeys: ["role", "kind", "data"] },
  ),
) as unknown as fc.Arbitrary<AgentMessage>;

describe("saved messages", () => {
  test("are restored unchanged [PER-01.1]", () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 6 }), (messages) => {
        expect(messagesFromJson(messagesToJson(messages))).toEqual(messages);
      }),
      { numRuns: RUNS },
    );
  });

  test("use the specified spelling, in both directions [PER-02.1-2, PER-04.1, GAP-03]", () => {
    const file = [
      { role: "user", content: [{ type: "text", text: "Hello" }], timestamp: 1700000000000 },
      {
        role: "assistant",
        content: [{ type: "text", text: "Hi there!" }],
        stopReason: "stop",
        model: "claude-sonnet-4-20250514",
        provider: "anthropic",
        usage: { input: 100, output: 50, cache_read: 0, cache_write: 0, total_tokens: 150 },
        timestamp: 1700000001000,
        turnId: { loopId: "session123.model.1", turnIndex: 3 },
      },
      { role: "extension", kind: "status_update", data: { status: "running" } },
    ];
    const messages = messagesFromJson(JSON.stringify(file));
    expect(messages[1]).toMatchObject({ usage: { cacheRead: 0, totalTokens: 150, reasoning: 0 } });
    const [first, second, third] = JSON.parse(messagesToJson(messages));
    expect([first, third]).toEqual([file[0], file[2]]);
    expect(second).toEqual({ ...file[1], usage: { ...file[1]?.usage, reasoning: 0 } });
  });

  test("of older programs load, whatever fields they omit [PER-04.2]", () => {
    const old = [
      { role: "user", content: "just words" },
      {
        role: "assistant",
        content: [{ type: "tool_call", id: "c", name: "t", arguments: {} }],
        stop_reason: "tool_use",
      },
      { role: "tool_result", tool_call_id: "c", tool_name: "t", content: ["out"] },
    ];
    expect(messagesFromJson(JSON.stringify(old))).toMatchObject([
      { role: "user", content: [{ type: "text", text: "just words" }], timestamp: 0 },
      { role: "assistant", stopReason: "toolUse", usage: { input: 0 }, content: [{ type: "toolCall" }] },
      { role: "toolResult", toolCallId: "c", isError: false, content: [{ text: "out" }] },
    ]);
    expect(() => messagesFromJson("{}")).toThrow("not a list");
    expect(() => messagesFromJson('[{"role":"nobody"}]')).toThrow("message 0");
  });
});

const AT = "2026-03-28T10:00:00Z";

function session(of: Partial<RecordedSession> = {}): RecordedSession {
  const usage = { input: 1, output: 2, reasoning: 0, cacheRead: 3, cacheWrite: 0, totalTokens: 6 };
  const said: AgentMessage = { role: "user", content: [{ type: "text", text: "go" }], timestamp: 1 };
  return {
    sessionId: "s1",
    agentId: "a",
    formation: { type: "inactivity_timeout", thresholdSecs: 60, previousSessionId: "s0", timestamp: AT },
    scope: "persistent",
    createdAt: AT,
    lastActiveAt: AT,
    parentSpawnRef: { parentSessionId: "p", parentLoopId: "p.v.m.1", toolCallId: "c", toolName: "t" },
    loops: [
      {
        loopId: "s1.v.m.1",
        sessionId: "s1",
        agentId: "a",
        continuationKind: { type: "rerun", tag: AT },
        startedAt: AT,
        endedAt: AT,
        status: "completed",
        config: { model: "m", provider: "v", thinking: "high", contextWindow: 9, baseUrl: "http://x" },
        messages: [said],
        turns: [
          {
            turnId: { loopId: "s1.v.m.1", turnIndex: 0 },
            triggeredBy: "user",
            usage,
            inputMessages: [said],
            outputMessage: {
              role: "assistant",
              content: [],
              stopReason: "stop",
              model: "m",
              provider: "v",
              usage,
              timestamp: 2,
            },
            toolResults: [],
            startedAt: AT,
            endedAt: AT,
          },
        ],
        usage,
        metadata: { request_id: "keeps_its_keys" },
        events: [{ sequence: 0, event: { type: "InputRejected", loopId: "s1.v.m.1", reason: "no" } }],
        childrenLoopIds: ["s1.v.m.2"],
        childLoopRefs: [{ toolCallId: "c", toolName: "t", childLoopId: "k.v.m.1", childSessionId: "k" }],
        compactionBlock: {
          keepFirst: { startTurn: 0, endTurn: 1 },
          keepCompacted: { range: { startTurn: 2, endTurn: 7 }, messages: [said] },
          keepRecent: { range: { startTurn: 8, endTurn: 12 }, messages: [said] },
          createdAt: AT,
        },
        parallelGroup: {
          allLoopIds: ["s1.v.m.1"],
          selectedLoopId: "s1.v.m.1",
          selectedConfigIndex: 0,
          evaluationUsage: usage,
          isSelected: true,
        },
      },
    ],
    ...of,
  };
}

describe("a saved session", () => {
  test("is restored unchanged, in the specified spelling [PER-03, CMP-01.1, SES-01.1, SES-02.1-3, X-36.1]", () => {
    const text = sessionToJson(session());
    expect(sessionFromJson(text)).toEqual(session());
    const file = JSON.parse(text);
    // A session has no model, thinking or temperature of its own; a loop's configuration has them.
    expect(Object.keys(file).sort()).toEqual([
      "agent_id",
      "created_at",
      "formation",
      "last_active_at",
      "loops",
      "parent_spawn_ref",
      "scope",
      "session_id",
    ]);
    const [loop] = file.loops;
    expect(loop.usage).toMatchObject({ cache_read: 3, total_tokens: 6 });
    expect(loop.config).toMatchObject({ thinking_level: "high", context_window: 9, base_url: "http://x" });
    expect(loop.compaction_block).toMatchObject({
      keep_first: { startTurn: 0, endTurn: 1 },
      keep_compacted: { range: { startTurn: 2, endTurn: 7 } },
      keep_recent: { range: { startTurn: 8, endTurn: 12 } },
      createdAt: AT,
    });
    expect(loop.parallel_group).toMatchObject({ all_loop_ids: ["s1.v.m.1"], is_selected: true });
    expect(loop.metadata).toEqual({ request_id: "keeps_its_keys" });
  });

  test("has times that are UTC date-times, and no other ones [TYP-04.3]", () => {
    expect(JSON.parse(sessionToJson(session())).created_at).toBe(AT);
    const at = (createdAt: unknown) => () =>
      sessionFromJson(JSON.stringify({ ...JSON.parse(sessionToJson(session())), created_at: createdAt }));
    expect(at(AT)).not.toThrow();
    for (const wrong of [1_774_692_000_000, "2026-03-28T12:00:00+02:00", "2026-03-28"]) {
      expect(at(wrong)).toThrow("createdAt");
    }
  });

  test("with any messages is restored unchanged", () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 4 }), (messages) => {
        const [loop] = session().loops;
        const saved = session({ loops: [{ ...loop!, messages }] });
        expect(sessionFromJson(sessionToJson(saved))).toEqual(saved);
      }),
      { numRuns: Math.min(RUNS, 200) },
    );
  });

  test("of an older program loads without the fields that it omits [CMP-16.3, SES-05.2, PER-04.2, X-08.1]", () => {
    const old = {
      session_id: "old",
      agent_id: "a",
      formation: { FirstLoop: { timestamp: AT } },
      created_at: AT,
      loops: [
        {
          loop_id: "old.m.1",
          started_at: AT,
          status: "Completed",
          continuation_kind: null,
          compaction_block: null,
        },
      ],
    };
    expect(sessionFromJson(JSON.stringify(old))).toMatchObject({
      scope: "ephemeral",
      formation: { type: "first_loop", timestamp: AT },
      loops: [
        {
          sessionId: "old",
          turns: [],
          messages: [],
          status: "completed",
          continuationKind: { type: "initial" },
        },
      ],
    });
    expect(() => sessionFromJson('{"session_id": 4}')).toThrow("This is not a saved session");
  });
});

describe("a folder of sessions", () => {
  let folder: string;
  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), "holdfast-store-")), "made", "when-needed");
  });
  afterEach(() => rm(join(folder, "..", ".."), { recursive: true, force: true }));

  test("has one file per session, newest first, and reports a missing session [SES-16.1-4, SES-18]", async () => {
    const store = new FileSessionStore(folder);
    expect(await store.listIds()).toEqual([]);
    await store.save(session({ sessionId: "one" }));
    await store.save(session({ sessionId: "two", agentId: "b" }));
    await store.save(session({ sessionId: "one", scope: "ephemeral" }));
    expect((await readdir(folder)).sort()).toEqual(["one.json", "two.json"]);
    expect((await store.listIds())[0]).toBe("one");
    expect(await store.load("one")).toEqual(session({ sessionId: "one", scope: "ephemeral" }));
    expect((await store.listForAgent("b")).map(({ sessionId }) => sessionId)).toEqual(["two"]);
    await store.delete("one");
    await expect(store.load("one")).rejects.toMatchObject({ code: "session-unknown" });
    await expect(store.delete("one")).rejects.toMatchObject({ code: "session-unknown" });
    for (const id of ["../out", "..", "a/b"])
      await expect(store.load(id)).rejects.toMatchObject({ code: "input-invalid" });
  });

  test("a concurrent save fails because the folder is locked; the lock of a dead process is broken [SES-17, PHI-12.1-2]", async () => {
    const store = new FileSessionStore(folder);
    await store.save(session());
    const lock = join(folder, "s1.json.lock");
    await writeFile(lock, String(process.pid));
    await expect(store.save(session({ scope: "ephemeral" }))).rejects.toMatchObject({
      code: "session-locked",
      facts: { session: "s1" },
    });
    expect((await store.load("s1")).scope).toBe("persistent");
    await writeFile(lock, "999999999");
    await store.save(session({ scope: "ephemeral" }));
    expect((await store.load("s1")).scope).toBe("ephemeral");
    expect(await readdir(folder)).toEqual(["s1.json"]);
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => store.save(session())));
    const failed = all.filter((one) => one.status === "rejected");
    for (const one of failed) expect(one.reason).toMatchObject({ code: "session-locked" });
    expect(await store.load("s1")).toEqual(session());
  });
});
