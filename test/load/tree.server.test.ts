import { temporal } from "@temporalio/proto";
import { afterAll, beforeAll, expect } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
import { createAgentTree, createTaskCall, listChildSessions } from "../workflows/support/agent-tree.ts";
import { expectComplete } from "../workflows/support/expect-complete.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";

// Two hundred sub-agents under one root on one worker, fifty of them in parallel.

const CHILDREN = 200;
const SIDE_BY_SIDE = 50;
/** Issue 5, section 6. */
const MAX_BYTES_PER_CHILD = 4096;
/** The root continues as new after every second group. */
const ROTATE_AFTER_EVENTS = 400;
const PATIENCE_MS = 240_000;

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

thoroughTest(
  "two hundred sub-agents under one root: each runs once, results in order, continue-as-new loses none, 4 KB of history each [SUB-09.2, TEST-07]",
  async () => {
    const crews = Array.from({ length: CHILDREN / SIDE_BY_SIDE }, (_, crew) => ({
      toolCalls: Array.from({ length: SIDE_BY_SIDE }, (_, place) =>
        createTaskCall("scout", `number ${crew * SIDE_BY_SIDE + place}`),
      ),
    }));
    const root = createAgentTree(
      stage,
      [...crews, { text: "All of them." }],
      { scout: [{ text: "Done." }] },
      {
        delegation: { maxDepth: 1, maxChildren: CHILDREN },
        limits: { maxTurns: null, maxTotalTokens: null, maxDurationMs: null },
      },
    );
    const before = process.memoryUsage().rss;
    const from = performance.now();
    let peak = before;
    const watching = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 100);
    await root.start("Go", { settings: { rotateAfterEvents: ROTATE_AFTER_EVENTS } });
    const first = (await root.handle.describe()).runId;
    const result = await root.readResult().finally(() => clearInterval(watching));
    const ms = performance.now() - from;

    expect(result).toMatchObject({ text: "All of them.", outcome: { type: "answered" } });
    const results = (await root.readEntries()).flatMap(({ message }) =>
      message.role === "toolResult" ? [message] : [],
    );
    expect(results).toHaveLength(CHILDREN);
    expect(results.filter(({ isError }) => isError)).toEqual([]);
    await expectComplete(stage, root);
    const children = await listChildSessions(stage, root);
    expect(children).toHaveLength(CHILDREN);
    expect(new Set(children.map(({ spawn }) => spawn?.toolCallId)).size).toBe(CHILDREN);
    expect(children.filter(({ status }) => status !== "completed")).toEqual([]);
    const tasks = await Promise.all(
      results.map(async ({ childLoopId = "" }) => {
        const session = childLoopId.replace(/\.sub\.1$/, "");
        const [entry] = await stage.transcript.readEntries(session, "main", 0, 1);
        const content = entry?.message.role === "user" ? entry.message.content : [];
        return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
      }),
    );
    expect(tasks).toEqual(Array.from({ length: CHILDREN }, (_, n) => `number ${n}`));

    const runs = await runsOf(root.id, first);
    expect(runs.length).toBeGreaterThan(1);
    const bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
    expect(bytes / CHILDREN).toBeLessThanOrEqual(MAX_BYTES_PER_CHILD);
    process.stdout.write(
      `${CHILDREN} sub-agents: ${Math.round(ms)} ms, ${Math.round((peak - before) / 2 ** 20)} MiB more at the most, ` +
        `${runs.length} runs of the root, ${Math.round(bytes / CHILDREN)} bytes of its history each\n`,
    );
  },
  PATIENCE_MS,
);

async function runsOf(workflowId: string, first: string): Promise<readonly { readonly bytes: number }[]> {
  const { HistoryEvent } = temporal.api.history.v1;
  const { events } = await stage.client.workflow.getHandle(workflowId, first).fetchHistory();
  const bytes = (events ?? []).reduce((sum, event) => sum + HistoryEvent.encode(event).finish().length, 0);
  const next = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  return [{ bytes }, ...(next ? await runsOf(workflowId, next) : [])];
}
