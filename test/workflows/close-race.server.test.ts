import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/testing/eventually.ts";
import { followUpSignal, promptUpdate, steerSignal, stopSignal } from "../../src/workflows/messages.ts";
import { thorough } from "../support/depth.ts";
import { HeldTranscript } from "./support/held-transcript.ts";
import type { Session } from "./support/session.ts";
import { openStage, type Stage } from "./support/temporal.ts";

const held = new HeldTranscript();
let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ wrap: held.wrap });
});
afterAll(() => stage.close());

/** Every message of a person that the session holds, in the conversation or in the inbox, by id. */
async function whereabouts(session: Session): Promise<string[]> {
  const entries = await session.entries();
  const inbox = await stage.transcript.inbox(session.id);
  return [...entries.flatMap(({ messageId }) => messageId ?? []), ...inbox.map(({ id }) => id)].sort();
}

async function expectWholeLoops(session: Session): Promise<void> {
  for (const { loopId, status } of await stage.transcript.loops(session.id)) {
    const events = await stage.transcript.events(loopId, 0);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
    expect(events.filter(({ body }) => body.type === "AgentEnd")).toHaveLength(1);
    expect(events.at(-1)?.body.type).toBe("AgentEnd");
    expect(status).not.toBe("running");
  }
}

const p = (id: string) => ({ id, text: `words of ${id}` });

for (const localSteps of [true, false]) {
  for (const when of ["before", "after"] as const) {
    describe(`close-loop held ${when} it is stored, local steps ${localSteps ? "on" : "off"}`, () => {
      const settings = { localSteps };

      thorough(
        "a run keeps what arrives: steering and a follow-up lie in the inbox or in the conversation, once",
        async () => {
          const session = stage.session({
            replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }],
          });
          const close = held.hold(session.id, when, "closeLoop");
          await session.start(undefined, { prompt: p("prompt"), settings });
          await close.arrived;
          await session.handle.signal(steerSignal, p("late steer"));
          await session.handle.signal(followUpSignal, p("late follow-up"));
          close.release();
          await session.result();
          expect(await whereabouts(session)).toEqual(["late follow-up", "late steer", "prompt"]);
          await expectWholeLoops(session);
          await session.start(undefined, { prompt: p("next"), settings });
          await session.result();
          expect(await whereabouts(session)).toEqual(["late follow-up", "late steer", "next", "prompt"]);
          expect(await stage.transcript.inbox(session.id)).toEqual([]);
          await expectWholeLoops(session);
        },
      );

      thorough("an interactive run answers what arrived, then waits", async () => {
        const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }] });
        const close = held.hold(session.id, when, "closeLoop");
        await session.start(undefined, { prompt: p("prompt"), mode: "interactive", settings });
        await close.arrived;
        await session.handle.signal(steerSignal, p("late"));
        const refused = session.handle.executeUpdate(promptUpdate, { args: [p("refused")] });
        await expect(refused).rejects.toMatchObject({ cause: { type: "holdfast/busy" } });
        close.release();
        await session.waitForRequest(1);
        await eventually(async () => (await session.status()).status === "waiting");
        await session.handle.signal(stopSignal);
        await session.result();
        expect(await whereabouts(session)).toEqual(["late", "prompt"]);
        await expectWholeLoops(session);
      });

      thorough("stop that arrives then changes nothing of the answer", async () => {
        const session = stage.session({ replies: [{ text: "One." }] });
        const close = held.hold(session.id, when, "closeLoop");
        await session.start("Go", { settings });
        await close.arrived;
        await session.handle.signal(stopSignal);
        close.release();
        expect(await session.result()).toMatchObject({ outcome: { type: "answered" }, text: "One." });
        await expectWholeLoops(session);
      });
    });
  }
}

test("steering that arrives while the loop is opened is read once (LOOP-08)", async () => {
  for (const localSteps of [true, false]) {
    const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
    const open = held.hold(session.id, "after", "openLoop");
    await session.start(undefined, { prompt: p("prompt"), settings: { localSteps } });
    await open.arrived;
    await session.handle.signal(steerSignal, p("early"));
    open.release();
    await session.result();
    expect(await whereabouts(session)).toEqual(["early", "prompt"]);
    await expectWholeLoops(session);
  }
});
