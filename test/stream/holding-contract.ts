import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HoldingHub } from "../../src/store/stream/holding-hub.ts";
import type { Delta } from "../../src/store/stream/stream-hub.ts";
import { eventually } from "../support/eventually.ts";
import { createDelta, readNext } from "./hub-contract.ts";

/** A place of live output for one test. */
export type HoldingFixture = {
  /** Opens the place as a process of its own would. */
  open(): HoldingHub;
  /** Returns whether nothing was ever written for a session. */
  isUnwritten(): Promise<boolean>;
  /** Leaves the watch of a process that died long ago. */
  abandonWatch(session: string): Promise<void>;
};

const recorded = (sequence: number): Delta =>
  createDelta(sequence, { command: 2, body: { type: "recorded", sequence: 1, completed: "all" } });

const CALL = { session: "s", run: "r", command: 1, call: 0 };

/** What holds of live output that is held while nobody watches it, over every kind of store. */
export function testHolding(name: string, make: () => Promise<HoldingFixture>): void {
  describe(`live output that nobody watches, over ${name}`, () => {
    let fixture: HoldingFixture;
    let hub: HoldingHub;
    const opened: HoldingHub[] = [];
    const open = (): HoldingHub => {
      const one = fixture.open();
      opened.push(one);
      return one;
    };
    beforeEach(async () => {
      fixture = await make();
      hub = open();
    });
    afterEach(async () => {
      for (const one of opened.splice(0)) await one.close();
    });

    test("is not written if it is recorded soon", async () => {
      for (let sequence = 0; sequence < 50; sequence++) hub.publish(createDelta(sequence));
      hub.publish(recorded(50));
      hub.publish(createDelta(0, { command: 3, turn: 1 }));
      hub.end({ ...CALL, command: 3 });
      await hub.flush();
      expect(await fixture.isUnwritten()).toBe(true);
    });

    test("is written after a second, without a watcher", async () => {
      hub.publish(createDelta(0));
      expect(await fixture.isUnwritten()).toBe(true);
      const other = open();
      await eventually(async () => (await other.readSnapshot("s")).deltas.length === 1, {
        what: "the output of an answer that takes long",
      });
    });

    test("reaches a watcher of another process at once, and what follows too", async () => {
      hub.publish(createDelta(0));
      const other = open();
      const watching = readNext(other, 3);
      await eventually(async () => !(await fixture.isUnwritten()), { what: "the held output" });
      hub.publish(createDelta(1));
      hub.publish(createDelta(2));
      expect((await watching).sequences).toEqual([0, 1, 2]);
    });

    test("is held again when its watchers have left", async () => {
      const other = open();
      const watching = readNext(other, 1);
      hub.publish(createDelta(0));
      await watching;
      const third = open();
      let at = 10;
      // As long as the session counts as watched, each piece is written at once.
      await eventually(
        async () => {
          hub.publish(createDelta(at++));
          hub.end(CALL);
          await hub.flush();
          const published = await third.readPublished(CALL);
          return published.at(-1)?.sequence !== at - 1;
        },
        { what: "output that is held again" },
      );
    });

    test("is forgotten with its execution, unless it is lasting", async () => {
      hub.publish(createDelta(0));
      hub.end(CALL);
      expect((await hub.readSnapshot("s")).deltas).toEqual([]);
      hub.publish(createDelta(1), { isLasting: true });
      hub.end(CALL);
      const other = open();
      await hub.flush();
      expect((await other.readPublished(CALL)).map(({ sequence }) => sequence)).toEqual([1]);
    });

    test("tells a watcher that comes just after an announcement what was recorded", async () => {
      hub.publish(createDelta(0));
      hub.publish(recorded(1));
      const other = open();
      expect((await readNext(other, 1)).sequences).toEqual([1]);
    });

    test("is not written for a process that died while it watched", async () => {
      await fixture.abandonWatch("s");
      hub.publish(createDelta(0));
      // What a living watcher gets shows that the dead one's watch was read by then.
      const watching = readNext(open(), 1, undefined, "t");
      hub.publish(createDelta(0, { session: "t" }));
      await watching;
      hub.end(CALL);
      await hub.flush();
      expect((await open().readSnapshot("s")).deltas).toEqual([]);
    });
  });
}
