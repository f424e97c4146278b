import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readProcess } from "../../src/platform/process/process-table.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { thorough } from "../support/depth.ts";
import type { Session } from "./support/session.ts";
import { isWaitingForVendor, WAYS } from "./support/stopping.ts";
import { openStage, type Stage } from "./support/temporal.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

/** Socket and process must be gone within this: a heartbeat a second carries the word. */
const SOON_MS = 5000;

async function expectStopped(session: Session): Promise<void> {
  expect(await session.result()).toMatchObject({ outcome: { type: "stopped" } });
  const events = await session.eventTypes();
  expect(events.filter((type) => type === "AgentEnd")).toHaveLength(1);
  expect(events.at(-1)).toBe("AgentEnd");
  const { searchAttributes, status } = await session.handle.describe();
  expect(status.name).toBe("COMPLETED");
  expect(searchAttributes).toMatchObject({ HoldfastStatus: ["stopped"] });
  expect(await stage.transcript.session(session.id)).toMatchObject({ status: "aborted" });
}

for (const [way, stop] of WAYS) {
  test(`${way} during a model stream closes the vendor's socket and ends the run (LOOP-10, X-01)`, async () => {
    const session = stage.session({ replies: [{ text: "Never said whole.", holdUntil: "never" }] });
    await session.start("Go");
    const request = await stage.model.waitForHold("never");
    const asked = performance.now();
    await stop(session);
    await eventually(() => request.outcome === "aborted-by-client", { timeoutMs: SOON_MS });
    await expectStopped(session);
    expect(performance.now() - asked).toBeLessThan(SOON_MS);
    expect(session.requests()).toHaveLength(1);
    expect((await session.entries()).at(-1)?.message).toMatchObject({
      role: "assistant",
      stopReason: "aborted",
    });
  });

  thorough(
    `${way} during a bash command ends its process group; every call has its result (TOOL-08) [TMP-08]`,
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
      expect((await session.conversation()).slice(2)).toEqual([
        "toolResult: Cancelled",
        "toolResult: Cancelled",
      ]);
      expect(session.requests()).toHaveLength(1);
    },
  );

  thorough(`${way} does not wait for a long delay between two attempts (RTY-05)`, async () => {
    const session = stage.session({ faults: [{ fault: "rate-limited", retryAfterSeconds: 600 }] });
    await session.start("Go");
    await session.waitForRequest(0);
    await eventually(async () => isWaitingForVendor(await session.status()));
    const asked = performance.now();
    await stop(session);
    await expectStopped(session);
    expect(performance.now() - asked).toBeLessThan(SOON_MS);
  });
}

/** A dead one that nobody has waited for yet does not run. */
function isRunning(pid: number): boolean {
  const found = readProcess(pid);
  return found !== undefined && !"ZX".includes(found.state);
}
