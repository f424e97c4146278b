import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MockActivityEnvironment } from "@temporalio/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { z } from "zod";
import { createActivities } from "../../src/activities/index.ts";
import { Conversations } from "../../src/activities/step/conversations.ts";
import { Definitions, parseDefinition } from "../../src/activities/step/definitions.ts";
import { apply } from "../../src/core/machine/apply.ts";
import { countContextTokens } from "../../src/core/machine/compact-view.ts";
import { computeTriggerLevel } from "../../src/core/machine/compaction-trigger.ts";
import { next } from "../../src/core/machine/next.ts";
import { buildInitialState } from "../../src/core/machine/start.ts";
import type { RunEvent } from "../../src/core/machine/state/run-event.ts";
import type { State } from "../../src/core/machine/state/state.ts";
import { sumViewTokens } from "../../src/core/view/view.ts";
import { FilterRegistry } from "../../src/hooks/filters.ts";
import { HookRegistry } from "../../src/hooks/hook-registry.ts";
import { NamedRegistry } from "../../src/hooks/named-registry.ts";
import { Outages } from "../../src/models/outages.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import { createLogger } from "../../src/platform/log.ts";
import { SandboxSettings } from "../../src/schema/sandbox.ts";
import { NullHub } from "../../src/store/stream/null-hub.ts";
import { SqliteTranscript } from "../../src/store/transcript/sqlite/sqlite-transcript.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server/server.ts";
import { createTestAgent } from "../../src/testing/test-agent.ts";
import { Sandboxes } from "../../src/tools/sandbox/sandboxes.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { ToolRegistry } from "../../src/tools/tool-registry.ts";
import { thoroughTest } from "../support/test-depth.ts";

// One loop of a thousand turns: the state machine and a worker's activities, over a real transcript and a scripted
// vendor, driven by a plain loop in place of Temporal.

const TURNS = 1000;
const KEEP_FIRST = 2;
const KEEP_RECENT = 4;
const LINES = 30;
/** Estimated tokens of one turn in this test: 800 bytes of text, and a result of thirty lines. */
const MAX_TURN_TOKENS = 800;
/** Memory that each turn may retain: the warm conversation, of about 2 KB. A request's body is twenty times as large. */
const HEAP_PER_TURN = 12 * 1024;

let home: string;
let model: ModelServer;
let transcript: SqliteTranscript;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "holdfast-long-"));
  transcript = await SqliteTranscript.open({ path: join(home, "transcript.db") });
  model = await startModelServer({
    keepBodies: 1,
    toolCallIds: "fresh",
    defaultReply: {
      text: "What I have seen so far makes me look once more. ".repeat(16),
      toolCalls: [{ name: "look", arguments: {} }],
      usage: { input: 0, output: 0 },
    },
  });
});
afterAll(async () => {
  await model.stop();
  await transcript.close();
  await rm(home, { recursive: true, force: true });
});

let looked = 0;
const look = defineTool({
  name: "look",
  description: "Looks",
  inputSchema: z.object({}),
  replay: "pure",
  execute: async () => {
    looked += 1;
    return Array.from({ length: LINES }, (_, line) => `look ${looked}, line ${line}: nothing new`).join("\n");
  },
});

/** The activities, each in a context like Temporal's. */
function worker() {
  const activities = createActivities({
    transcript,
    hub: new NullHub(),
    outages: new Outages(),
    providers: ProviderRegistry.createDefault(),
    tools: new ToolRegistry([look]),
    filters: new FilterRegistry(),
    hooks: new HookRegistry(),
    transforms: new NamedRegistry("context transform"),
    converters: new NamedRegistry("context converter"),
    translations: new NamedRegistry("context translation"),
    reducers: new NamedRegistry("reducer"),
    compactions: new NamedRegistry("compaction strategy"),
    evaluations: new NamedRegistry("evaluation strategy"),
    scorers: new NamedRegistry("scorer"),
    secrets: () => "sk-test",
    definitions: new Definitions(transcript),
    conversations: new Conversations(transcript),
    sandboxes: new Sandboxes({
      fallback: SandboxSettings.parse({ mode: "off" }),
      holdfastHome: home,
      environment: {},
    }),
    process: "worker",
    defaultWorkspace: home,
    cellWorkspaces: home,
    log: createLogger("silent"),
  });
  let ids = 0;
  return async <Name extends keyof typeof activities>(
    name: Name,
    activityType: string,
    input: Parameters<(typeof activities)[Name]>[0],
  ) => {
    const workflowExecution = { workflowId: "long", runId: "run" };
    const info = { workflowExecution, activityType, activityId: `${ids++}`, isLocal: false, attempt: 1 };
    const work = activities[name] as (given: typeof input) => ReturnType<(typeof activities)[Name]>;
    return await (new MockActivityEnvironment(info).run(work, input) as ReturnType<
      (typeof activities)[Name]
    >);
  };
}

function collected(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

thoroughTest(
  "a thousand turns: estimates, messages, state and memory stay bounded, the first and the last turns stay [TEST-08]",
  async () => {
    const definition = parseDefinition(
      createTestAgent(model, {
        tools: ["look"],
        limits: { maxTurns: TURNS, maxTotalTokens: null, maxDurationMs: null, maxCostUsd: null },
        context: {
          maxContextTokens: 12_000,
          systemPromptTokens: 100,
          compaction: {
            keepFirstTurns: KEEP_FIRST,
            keepRecentTurns: KEEP_RECENT,
            maxSummaryTokens: 400,
            toolOutputMaxLines: 10,
          },
        },
      }),
    );
    const trigger = computeTriggerLevel(definition.context as NonNullable<typeof definition.context>);
    const act = worker();
    const prompts = [{ id: "p", text: "Look a thousand times", atMs: 0 }];
    const common = { session: "long", mode: "run", idleTimeoutMs: null, localSteps: false } as const;
    let state: State = apply(
      buildInitialState({ ...common, requestedDefinition: { definition }, prompts, nowMs: 0 }),
      {
        type: "started",
        atMs: 0,
      },
    );
    const tell = (event: RunEvent) => {
      state = apply(state, event);
    };
    const heaps: number[] = [];
    let compactions = 0;
    let mostMessages = 0;
    let firstWords: string | undefined;

    const messages = () => (model.requests.at(-1)?.body?.["messages"] ?? []) as { content: unknown }[];
    function lookAtRequest(): void {
      // As sent to the vendor, without the prompt cache markers, which change position.
      const words = JSON.stringify(messages().slice(0, 1 + 2 * KEEP_FIRST)).replaceAll(
        /,"cache_control":{[^}]*}/g,
        "",
      );
      if ((state.loop?.turn ?? 0) === KEEP_FIRST) firstWords = words;
      if ((state.loop?.turn ?? 0) > KEEP_FIRST) expect(words).toBe(firstWords);
      if (looked > 0) {
        expect(JSON.stringify(messages().at(-1))).toContain(`look ${looked}, line ${LINES - 1}: `);
      }
      mostMessages = Math.max(mostMessages, messages().length);
    }

    for (let command = next(state); command.type !== "finish"; command = next(state)) {
      const atMs = state.nowMs + 1;
      switch (command.type) {
        case "open-loop": {
          const { type, session, ...input } = command;
          tell({ type: "loop-opened", digest: await act(type, type, input), atMs });
          break;
        }
        case "call-model": {
          const { type, session, maxAttempts, ...input } = command;
          expect(countContextTokens(state)).toBeLessThanOrEqual(trigger);
          const digest = await act("call-model", "call-model", input);
          lookAtRequest();
          tell({ type: "model-replied", digest, atMs });
          break;
        }
        case "call-tools":
          for (const { isLocal, session, timeoutMs, queue, summary, toolName, ...input } of command.calls) {
            tell({
              type: "tool-finished",
              call: input.call,
              digest: await act("default", toolName, input),
              atMs,
            });
          }
          break;
        case "compact": {
          const { type, session, maxAttempts, ...input } = command;
          expect(command.contextTokens).toBeLessThanOrEqual(trigger + MAX_TURN_TOKENS);
          tell({ type: "compacted", digest: await act(type, type, input), atMs });
          compactions += 1;
          const [first, middle, ...recent] = state.view.spans;
          expect(first).toMatchObject({ from: 0, to: 1 + 2 * KEEP_FIRST, turns: KEEP_FIRST });
          expect(middle).toMatchObject({ replacement: { section: 0 } });
          const kept = recent.reduce((sum, { turns }) => sum + turns, 0);
          // Counting the turn that is about to begin, no turn is partial: the last result is the newest entry but one.
          expect(kept).toBe(KEEP_RECENT);
          // The results of the newest turn are unread, and stay complete.
          expect(recent.slice(0, -1).every(({ maxLines }) => maxLines === 10)).toBe(true);
          expect(recent.at(-1)).not.toHaveProperty("maxLines");
          expect(recent.at(-1)?.to).toBe(state.length - 1);
          expect(sumViewTokens(state.view)).toBeLessThan(trigger / 2);
          break;
        }
        case "close-loop": {
          const { type, session, ...input } = command;
          tell({ type: "loop-closed", digest: await act(type, type, input), atMs });
          break;
        }
        default:
          throw new Error(`${command.type} is not due in this loop`);
      }
      if (command.type === "call-tools" && (state.loop?.turn ?? 0) % 250 === 0) heaps.push(collected());
    }

    expect(state.last?.outcome).toMatchObject({ type: "limit-reached" });
    expect(looked).toBe(TURNS);
    expect(compactions).toBeGreaterThan(TURNS / 50);
    const between = Math.ceil(trigger / (MAX_TURN_TOKENS / 4));
    expect(mostMessages).toBeLessThanOrEqual(1 + 2 * (KEEP_FIRST + KEEP_RECENT) + 2 * between);
    expect(JSON.stringify(state).length).toBeLessThan(16 * 1024);
    const length = await transcript.countEntries("long", "main");
    expect(length).toBe(1 + 2 * TURNS + compactions + 1);
    expect(heaps).toHaveLength(4);
    const [early = 0, ...later] = heaps;
    for (const [index, heap] of later.entries()) {
      expect(heap - early).toBeLessThan((index + 1) * 250 * HEAP_PER_TURN);
    }
  },
  600_000,
);
