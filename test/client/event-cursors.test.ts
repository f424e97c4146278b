import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { formatCursor, parseCursor } from "../../src/client/read/event-cursor.ts";
import type { SessionEvent } from "../../src/client/read/session-events.ts";
import type { AgentEvent } from "../../src/schema/agent-event.ts";
import { LocalHub } from "../../src/store/stream/local-hub.ts";
import { eventually } from "../support/eventually.ts";
import { BackgroundReader, Timeline, type TurnPlan } from "./timeline.ts";

let dir: string;
let runs = 0;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "holdfast-events-"));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

/** What an update belongs to. */
function subjectOf(event: AgentEvent): string | undefined {
  if (event.type === "MessageUpdate") return `answer ${event.message.turnId?.turnIndex}`;
  return event.type === "ToolExecutionUpdate" ? event.toolCallId : undefined;
}

/** The start of an answer is empty when it was seen live, and complete when it was read from the record. */
function plain({ event }: SessionEvent): AgentEvent {
  if (event.type !== "MessageStart" || event.message.role !== "assistant") return event;
  return { ...event, message: { ...event.message, content: [], provider: "p" } };
}

const plan: fc.Arbitrary<TurnPlan> = fc.record({
  attempts: fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 3 }),
  calls: fc.array(fc.nat({ max: 3 }), { maxLength: 2 }),
});

describe("events that are read in parts", () => {
  test("equal those read in one pass, wherever the reader leaves and whenever it returns [LOOP-23.3]", async () => {
    const script = fc.tuple(
      fc.array(plan, { minLength: 1, maxLength: 3 }),
      fc.array(fc.record({ at: fc.nat({ max: 40 }), behind: fc.nat({ max: 60 }) }), {
        minLength: 6,
        maxLength: 6,
      }),
    );
    await fc.assert(
      fc.asyncProperty(script, async ([turns, coming]) => {
        const own = new LocalHub(join(dir, String(runs++)));
        const timeline = new Timeline(own);
        const { whole } = timeline;
        const visits: (() => { told: AgentEvent[]; expected: AgentEvent[] })[] = [];
        const readers: BackgroundReader[] = [];
        let moment = 0;
        await timeline.play(turns, async () => {
          moment += 1;
          for (const { behind } of coming.filter(({ at }) => at === moment)) {
            const index = behind % Math.max(1, whole.events.length);
            const left = whole.events[index];
            if (left === undefined) continue;
            const reader = new BackgroundReader(timeline.link, left.cursor);
            await reader.waitUntilReady();
            // The record supplies the rest of what was recorded when the reader returned.
            const recorded = new Set(timeline.recorded);
            const isShown = (event: AgentEvent) => !recorded.has(subjectOf(event) ?? "");
            readers.push(reader);
            visits.push(() => ({
              told: reader.events.map(plain),
              expected: whole.events
                .slice(index + 1)
                .map(plain)
                .filter(isShown),
            }));
          }
          for (const visit of visits)
            await eventually(() => visit().told.length >= visit().expected.length, {
              what: "a reader's news",
            });
        });
        await Promise.all([whole, ...readers].map(({ done }) => done));
        await own.close();
        for (const visit of visits) {
          const { told, expected } = visit();
          expect(told).toEqual(expected);
        }
      }),
      { numRuns: 12, endOnFailure: true },
    );
  }, 120_000);
});

describe("a cursor", () => {
  const place = fc.record({
    offset: fc.nat({ max: 2 ** 31 - 1 }).map((low) => low * 2 ** 20),
    first: fc.nat(),
    loops: fc.array(
      fc.oneof(
        fc.constant("skipped" as const),
        fc
          .record({ next: fc.nat(), back: fc.nat(), started: fc.boolean(), told: fc.nat({ max: 9 }) })
          .map(({ next, back, started, told }) => ({
            next,
            turnAt: Math.max(0, next - back),
            ...(started ? { started: true as const } : {}),
            ...(told === 0 ? {} : { delivered: told }),
          })),
      ),
      { maxLength: 5 },
    ),
    group: fc.option(fc.record({ index: fc.nat(), delivered: fc.nat({ max: 7 }) }), { nil: undefined }),
  });

  test("holds a complete position, and is safe in a URL", () => {
    fc.assert(
      fc.property(fc.string(), place, (session, at) => {
        const cursor = formatCursor(session, at);
        expect(encodeURIComponent(cursor)).toBe(cursor);
        expect(parseCursor(session, cursor)).toEqual(
          at.group === undefined ? { offset: at.offset, first: at.first, loops: at.loops } : at,
        );
      }),
    );
  });

  test("is short", () => {
    const at = { offset: 2 ** 52, first: 9, loops: [{ next: 1200, turnAt: 1190, started: true }] };
    expect(formatCursor("some session", at).length).toBeLessThan(32);
  });

  test("of another session, or an invalid one, is rejected with a readable error", () => {
    const cursor = formatCursor("one", { offset: 1, first: 0, loops: [] });
    expect(() => parseCursor("two", cursor)).toThrow(
      /of session two cannot resume from .* belongs to another session/,
    );
    for (const word of ["", "next", "1", `${cursor}.!`, "2abcde.0.0"])
      expect(() => parseCursor("one", word)).toThrow(/was not created by `session.events\(\)`.*Start again/);
  });
});
