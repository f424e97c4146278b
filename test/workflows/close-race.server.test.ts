import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { followUpSignal, promptUpdate, steerSignal, stopSignal } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { BlockingTranscript } from "./support/blocking-transcript.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

const held = new BlockingTranscript();
let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment({ wrap: held.wrap });
});
afterAll(() => stage.close());

/** Every user message that the session holds, in the conversation or in the inbox, by id. */
async function whereabouts(session: TestSession): Promise<string[]> {
  const entries = await session.readEntries();
  const inbox = await stage.transcript.readInbox(session.id);
  return [...entries.flatMap(({ messageId }) => messageId ?? []), ...inbox.map(({ id }) => id)].sort();
}

async function expectWholeLoops(session: TestSession): Promise<void> {
  for (const { loopId, status } of await stage.transcript.readLoops(session.id)) {
    const events = await stage.transcript.readEvents(loopId, 0);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
    expect(events.filter(({ body }) => body.type === "AgentEnd")).toHaveLength(1);
    expect(events.at(-1)?.body.type).toBe("AgentEnd");
    expect(status).not.toBe("running");
  }
}

const p = (id: string) => ({ id, text: `words of ${id}` });

for (const localSteps of [true, false]) {
  for (const when of ["before", "after"] as const) {
    describe(`close-loop blocked ${when} it is stored, local steps ${localSteps ? "on" : "off"}`, () => {
      const settings = { localSteps };

      thoroughTest(
        "a run keeps what arrives: steering and a follow-up are in the inbox or in the conversation, once",
        async () => {
          const session = stage.session({
            replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }],
          });
          const close = held.block(session.id, when, "closeLoop");
          await session.start(undefined, { prompt: p("prompt"), settings });
          await close.arrived;
          await session.handle.signal(steerSignal, p("late steer"));
          await session.handle.signal(followUpSignal, p("late follow-up"));
          close.release();
          await session.readResult();
          expect(await whereabouts(session)).toEqual(["late follow-up", "late steer", "prompt"]);
          await expectWholeLoops(session);
          await session.start(undefined, { prompt: p("next"), settings });
          await session.readResult();
          expect(await whereabouts(session)).toEqual(["late follow-up", "late steer", "next", "prompt"]);
          expect(await stage.transcript.readInbox(session.id)).toEqual([]);
          await expectWholeLoops(session);
        },
      );

      thoroughTest("an interactive run answers what arrived, then waits", async () => {
        const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }] });
        const close = held.block(session.id, when, "closeLoop");
        await session.start(undefined, { prompt: p("prompt"), mode: "interactive", settings });
        await close.arrived;
        await session.handle.signal(steerSignal, p("late"));
        const refused = session.handle.executeUpdate(promptUpdate, { args: [p("refused")] });
        await expect(refused).rejects.toMatchObject({ cause: { type: "holdfast/busy" } });
        close.release();
        await session.waitForRequest(1);
        await eventually(async () => (await session.readStatus()).status === "waiting");
        await session.handle.signal(stopSignal);
        await session.readResult();
        expect(await whereabouts(session)).toEqual(["late", "prompt"]);
        await expectWholeLoops(session);
      });

      thoroughTest("stop that arrives at that time does not change the answer", async () => {
        const session = stage.session({ replies: [{ text: "One." }] });
        const close = held.block(session.id, when, "closeLoop");
        await session.start("Go", { settings });
        await close.arrived;
        await session.handle.signal(stopSignal);
        close.release();
        expect(await session.readResult()).toMatchObject({ outcome: { type: "answered" }, text: "One." });
        await expectWholeLoops(session);
      });
    });
  }
}

test("steering that arrives while the loop is opened is read once (LOOP-08)", async () => {
  for (const localSteps of [true, false]) {
    const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
    const open = held.block(session.id, "after", "openLoop");
    await session.start(undefined, { prompt: p("prompt"), settings: { localSteps } });
    await open.arrived;
    await session.handle.signal(steerSignal, p("early"));
    open.release();
    await session.readResult();
    expect(await whereabouts(session)).toEqual(["early", "prompt"]);
    await expectWholeLoops(session);
  }
});
