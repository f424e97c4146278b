import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readProcess } from "../../src/platform/process/process-table.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { watchLiveOutput } from "./support/live-output.ts";
import { isWaitingForVendor, measureStopMs, STOP_METHODS } from "./support/stopping.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

/** Socket and process must be gone within this: a heartbeat a second delivers the cancellation. */
const SOON_MS = 5000;

async function expectStopped(session: TestSession): Promise<void> {
  expect(await session.readResult()).toMatchObject({ outcome: { type: "stopped" } });
  const events = await session.readEventTypes();
  expect(events.filter((type) => type === "AgentEnd")).toHaveLength(1);
  expect(events.at(-1)).toBe("AgentEnd");
  const { searchAttributes, status } = await session.handle.describe();
  expect(status.name).toBe("COMPLETED");
  expect(searchAttributes).toMatchObject({ HoldfastStatus: ["stopped"] });
  expect(await stage.transcript.readSession(session.id)).toMatchObject({ status: "aborted" });
}

/** Tells a run that ended late from a client that heard of its end late. */
async function expectSoon(session: TestSession, clientMs: number): Promise<void> {
  const serverMs = await measureStopMs(stage, session.handle.workflowId);
  expect(serverMs, "from the stop to the end, by the server's clock").toBeLessThan(SOON_MS);
  expect(clientMs, "from the stop until the client had the result").toBeLessThan(SOON_MS);
}

for (const [nth, [way, stop]] of STOP_METHODS.entries()) {
  const declare = nth === 0 ? test : thoroughTest;
  declare(
    `${way} during a model stream closes the vendor's socket, drops the partial answer and ends the run (LOOP-10, X-01) [ABT-02, PROV-07.4, TMP-08.2]`,
    async () => {
      const session = stage.session({
        replies: [{ text: "Never said whole.", chunkSize: 5, holdUntil: "never" }],
      });
      const live = watchLiveOutput(stage, session);
      await session.start("Go");
      const request = await stage.model.waitForHold("never");
      const asked = performance.now();
      await stop(session);
      await eventually(() => request.outcome === "aborted-by-client", { timeoutMs: SOON_MS });
      await expectStopped(session);
      await expectSoon(session, performance.now() - asked);
      expect(session.listRequests()).toHaveLength(1);
      expect((await session.readEntries()).at(-1)?.message).toMatchObject({
        role: "assistant",
        content: [{ type: "text", text: "" }],
        stopReason: "aborted",
      });
      const shown = (await live.all()).flatMap(({ body }) => (body.type === "text" ? [body.text] : []));
      expect(shown[0]).toBe("Never");
    },
  );

  thoroughTest(
    `${way} during a bash command ends its process group; every call has its result [TOOL-08.1, TMP-08.1, ABT-02]`,
    async () => {
      const file = `pid-${way.length}`;
      const command = `sleep 300 & echo $! > ${file}.part; mv ${file}.part ${file}; wait`;
      const session = stage.session({
        replies: [
          {
            toolCalls: [
              { name: "bash", arguments: { command } },
              { name: "bash", arguments: { command: "sleep 301" } },
            ],
          },
          { text: "Never." },
        ],
        agent: { tools: ["bash"] },
      });
      await session.start("Go");
      const pid = Number(await eventually(() => readFile(join(stage.home, file), "utf8")));
      await stop(session);
      await expectStopped(session);
      expect(isRunning(pid)).toBe(false);
      expect((await session.readConversation()).slice(2)).toEqual([
        "toolResult: Cancelled",
        "toolResult: Cancelled",
      ]);
      expect(session.listRequests()).toHaveLength(1);
    },
  );

  thoroughTest(`${way} does not wait for a long delay between two attempts (RTY-05.2)`, async () => {
    const session = stage.session({ faults: [{ fault: "rate-limited", retryAfterSeconds: 600 }] });
    await session.start("Go");
    await session.waitForRequest(0);
    await eventually(async () => isWaitingForVendor(await session.readStatus()));
    const asked = performance.now();
    await stop(session);
    await expectStopped(session);
    await expectSoon(session, performance.now() - asked);
  });
}

/** A zombie does not run. */
function isRunning(pid: number): boolean {
  const found = readProcess(pid);
  return found !== undefined && !"ZX".includes(found.state);
}
