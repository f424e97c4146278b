import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Delta, StreamHub } from "../../src/stream/stream.ts";

/** A hub for one test. `second` opens the same place again, as another process would. */
export type HubBench = {
  readonly hub: StreamHub;
  second(): Promise<StreamHub>;
  dispose(): Promise<void>;
};

export function delta(sequence: number, of: Partial<Delta> = {}): Delta {
  return {
    session: "s",
    run: "r",
    loopId: "s.v.1",
    turn: 0,
    command: 1,
    call: 0,
    generation: 1,
    attempt: 1,
    sequence,
    atMs: 1000 + sequence,
    body: { type: "text", text: `word ${sequence}` },
    ...of,
  };
}

/** The next so many deltas of a session, and the offset behind each. */
export async function next(
  hub: StreamHub,
  count: number,
  from?: number,
  session = "s",
): Promise<{ offsets: number[]; sequences: number[] }> {
  const end = new AbortController();
  const offsets: number[] = [];
  const sequences: number[] = [];
  for await (const seen of hub.watch({ session, from, signal: end.signal })) {
    offsets.push(seen.offset);
    sequences.push(seen.delta.sequence);
    if (sequences.length === count) end.abort();
  }
  return { offsets, sequences };
}

/** What every hub that keeps deltas does. */
export function hubContract(name: string, make: () => Promise<HubBench>): void {
  describe(`${name} keeps the contract of stream hubs`, () => {
    let bench: HubBench;
    let hub: StreamHub;
    beforeEach(async () => {
      bench = await make();
      hub = bench.hub;
    });
    afterEach(() => bench.dispose());

    const publish = (from: number, to: number, of: Partial<Delta> = {}) => {
      for (let sequence = from; sequence < to; sequence++) hub.publish(delta(sequence, of));
    };

    test("who comes late sees all from the beginning, whole and in order", async () => {
      publish(0, 100);
      await hub.flush();
      expect((await next(hub, 100)).sequences).toEqual(Array.from({ length: 100 }, (_, index) => index));
      const end = new AbortController();
      for await (const seen of hub.watch({ session: "s", signal: end.signal })) {
        expect(seen.delta).toEqual(delta(0));
        end.abort();
      }
    });

    test("a thousand deltas are taken at once while nobody reads, and are read in order [EVT-15]", async () => {
      // One synchronous stretch: nothing could have been read or written in between.
      publish(0, 1000);
      expect((await next(hub, 1000)).sequences).toEqual(Array.from({ length: 1000 }, (_, index) => index));
    });

    test("who comes early sees all too, before there is anything", async () => {
      const watching = next(hub, 3);
      publish(0, 3);
      expect((await watching).sequences).toEqual([0, 1, 2]);
    });

    test("watching goes on while deltas come", async () => {
      const end = new AbortController();
      const seen: number[] = [];
      publish(0, 1);
      for await (const { delta: received } of hub.watch({ session: "s", signal: end.signal })) {
        seen.push(received.sequence);
        if (received.sequence === 20) end.abort();
        else publish(received.sequence + 1, received.sequence + 2);
      }
      expect(seen).toEqual(Array.from({ length: 21 }, (_, index) => index));
    });

    test("a watcher resumes behind any offset, losing and repeating nothing", async () => {
      publish(0, 20);
      await hub.flush();
      const { offsets } = await next(hub, 20);
      expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
      publish(20, 25);
      for (const [index, offset] of offsets.entries()) {
        const { sequences } = await next(hub, 3, offset);
        expect(sequences).toEqual([index + 1, index + 2, index + 3]);
      }
    });

    test("behind the snapshot means nothing of before", async () => {
      publish(0, 5);
      await hub.flush();
      const { offset } = await hub.snapshot("s");
      const watching = next(hub, 2, offset);
      publish(5, 7);
      expect((await watching).sequences).toEqual([5, 6]);
    });

    test("sessions do not see each other, whatever their names", async () => {
      const names = ["a", "A", "a/b", "../a", "a_b", "ä", ".", "..", "a b", "a%2fb", "x".repeat(900), "con"];
      for (const [index, session] of names.entries()) publish(index, index + 1, { session });
      await hub.flush();
      for (const [index, session] of names.entries()) {
        expect((await next(hub, 1, undefined, session)).sequences).toEqual([index]);
      }
    });

    test("another process's deltas are seen, and those of several are all there", async () => {
      const other = await bench.second();
      const watching = next(hub, 200);
      for (let sequence = 0; sequence < 100; sequence++) {
        hub.publish(delta(sequence));
        other.publish(delta(1000 + sequence));
      }
      const { sequences } = await watching;
      expect(sequences.filter((sequence) => sequence < 1000)).toEqual(
        Array.from({ length: 100 }, (_, index) => index),
      );
      expect(new Set(sequences).size).toBe(200);
      await other.close();
    });

    test("published gives one call's deltas of all generations and processes", async () => {
      const other = await bench.second();
      publish(0, 2);
      publish(0, 2, { call: 1 });
      publish(0, 2, { command: 2 });
      publish(0, 2, { run: "q" });
      await hub.flush();
      other.publish(delta(0, { generation: 2, body: { type: "attempt" } }));
      await other.flush();
      const found = await hub.published({ session: "s", run: "r", command: 1, call: 0 });
      expect(found.map(({ generation, sequence }) => [generation, sequence])).toEqual([
        [1, 0],
        [1, 1],
        [2, 0],
      ]);
      expect(await hub.published({ session: "nobody", run: "r", command: 1, call: 0 })).toEqual([]);
      await other.close();
    });

    test("a session can be forgotten while it is watched, and begin again", async () => {
      const end = new AbortController();
      const seen: number[] = [];
      publish(0, 3);
      for await (const { delta: received } of hub.watch({ session: "s", signal: end.signal })) {
        seen.push(received.sequence);
        if (received.sequence === 2) {
          await hub.forget("s");
          publish(10, 12);
        }
        if (received.sequence === 11) end.abort();
      }
      expect(seen).toEqual([0, 1, 2, 10, 11]);
      await hub.forget("nobody");
    });

    test("watching ends with its signal and with the hub", async () => {
      const aborted = AbortSignal.abort();
      for await (const _ of hub.watch({ session: "s", signal: aborted })) expect.unreachable();
      const watching = next(hub, 1);
      await hub.close();
      expect((await watching).sequences).toEqual([]);
    });
  });
}
