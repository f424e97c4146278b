import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { resolveEncryption } from "../../src/platform/encryption/resolve-encryption.ts";
import { createEncryptedLineCodec } from "../../src/store/stream/encrypted-line-codec.ts";
import type { LineCodec } from "../../src/store/stream/line-codec.ts";
import type { Delta, StreamHub } from "../../src/store/stream/stream-hub.ts";
import { eventually } from "../support/eventually.ts";

/** A hub for one test. `reopen` opens the same location again, as another process would, optionally with keys. */
export type HubFixture = {
  readonly hub: StreamHub;
  reopen(codec?: LineCodec): Promise<StreamHub>;
  /** Returns whether no output is left in the hub's store; announcements may be. */
  isEmpty(): Promise<boolean>;
  dispose(): Promise<void>;
};

export function createDelta(sequence: number, of: Partial<Delta> = {}): Delta {
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

/** Reads a number of deltas of a session, and the offset after each. */
export async function readNext(
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

/** The contract of every hub that stores deltas. */
export function testHubContract(name: string, make: () => Promise<HubFixture>): void {
  describe(`${name} fulfils the contract of stream hubs`, () => {
    let bench: HubFixture;
    let hub: StreamHub;
    beforeEach(async () => {
      bench = await make();
      hub = bench.hub;
    });
    afterEach(() => bench.dispose());

    const publish = (from: number, to: number, of: Partial<Delta> = {}) => {
      for (let sequence = from; sequence < to; sequence++) hub.publish(createDelta(sequence, of));
    };

    test("a late subscriber receives everything from the beginning, complete and in order", async () => {
      publish(0, 100);
      await hub.flush();
      expect((await readNext(hub, 100)).sequences).toEqual(Array.from({ length: 100 }, (_, index) => index));
      const end = new AbortController();
      for await (const seen of hub.watch({ session: "s", signal: end.signal })) {
        expect(seen.delta).toEqual(createDelta(0));
        end.abort();
      }
    });

    test("a thousand deltas are accepted at once without a reader, and are read in order [EVT-15]", async () => {
      // One synchronous block: nothing could have been read or written in between.
      publish(0, 1000);
      expect((await readNext(hub, 1000)).sequences).toEqual(
        Array.from({ length: 1000 }, (_, index) => index),
      );
    });

    test("a subscriber that starts before the first delta receives everything too", async () => {
      const watching = readNext(hub, 3);
      publish(0, 3);
      expect((await watching).sequences).toEqual([0, 1, 2]);
    });

    test("a subscription continues while deltas arrive", async () => {
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

    test("a subscriber resumes after any offset, and loses and repeats nothing", async () => {
      publish(0, 20);
      await hub.flush();
      const { offsets } = await readNext(hub, 20);
      expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
      publish(20, 25);
      for (const [index, offset] of offsets.entries()) {
        const { sequences } = await readNext(hub, 3, offset);
        expect(sequences).toEqual([index + 1, index + 2, index + 3]);
      }
    });

    test("a subscription after a snapshot receives nothing from before it", async () => {
      publish(0, 5);
      await hub.flush();
      const { offset } = await hub.readSnapshot("s");
      const watching = readNext(hub, 2, offset);
      publish(5, 7);
      expect((await watching).sequences).toEqual([5, 6]);
    });

    test("encrypted data is skipped by a reader without the key, wherever it is [TMP-09.3]", async () => {
      const env = { OTHER_KEY: Buffer.alloc(32, 8).toString("base64") };
      const sealing = await bench.reopen(
        createEncryptedLineCodec(resolveEncryption({ keys: "other=env:OTHER_KEY" }, env)),
      );
      const watching = readNext(hub, 3);
      for (const sequence of [0, 2, 4]) {
        publish(sequence, sequence + 1);
        await hub.flush();
        sealing.publish(createDelta(sequence + 1));
        await sealing.flush();
      }
      expect((await watching).sequences).toEqual([0, 2, 4]);
      expect((await readNext(hub, 3)).sequences).toEqual([0, 2, 4]);
      const call = { session: "s", run: "r", command: 1, call: 0 };
      const found = async (of: StreamHub) => (await of.readPublished(call)).map(({ sequence }) => sequence);
      expect(await found(hub)).toEqual([0, 2, 4]);
      expect(await found(sealing)).toEqual(expect.arrayContaining([1, 3, 5]));
      const { deltas } = await hub.readSnapshot("s");
      expect(deltas).toMatchObject([{ delta: { body: { text: "word 0word 2word 4" } } }]);
      await sealing.close();
    });

    test("sessions do not see each other, whatever their names", async () => {
      const names = ["a", "A", "a/b", "../a", "a_b", "ä", ".", "..", "a b", "a%2fb", "x".repeat(900), "con"];
      for (const [index, session] of names.entries()) publish(index, index + 1, { session });
      await hub.flush();
      for (const [index, session] of names.entries()) {
        expect((await readNext(hub, 1, undefined, session)).sequences).toEqual([index]);
      }
    });

    test("another process's deltas are received, and those of several processes are complete", async () => {
      const other = await bench.reopen();
      const watching = readNext(hub, 200);
      for (let sequence = 0; sequence < 100; sequence++) {
        hub.publish(createDelta(sequence));
        other.publish(createDelta(1000 + sequence));
      }
      const { sequences } = await watching;
      expect(sequences.filter((sequence) => sequence < 1000)).toEqual(
        Array.from({ length: 100 }, (_, index) => index),
      );
      expect(new Set(sequences).size).toBe(200);
      await other.close();
    });

    test("published output of one call includes all generations and processes", async () => {
      const other = await bench.reopen();
      publish(0, 2);
      publish(0, 2, { call: 1 });
      publish(0, 2, { command: 2 });
      publish(0, 2, { run: "q" });
      await hub.flush();
      other.publish(createDelta(0, { generation: 2, body: { type: "attempt" } }));
      await other.flush();
      const found = await hub.readPublished({ session: "s", run: "r", command: 1, call: 0 });
      expect(found.map(({ generation, sequence }) => [generation, sequence])).toEqual([
        [1, 0],
        [1, 1],
        [2, 0],
      ]);
      expect(await hub.readPublished({ session: "nobody", run: "r", command: 1, call: 0 })).toEqual([]);
      await other.close();
    });

    test("a session can be deleted while it is watched, and start again", async () => {
      const end = new AbortController();
      const seen: number[] = [];
      publish(0, 3);
      for await (const { delta: received } of hub.watch({ session: "s", signal: end.signal })) {
        seen.push(received.sequence);
        if (received.sequence === 2) {
          await hub.deleteSession("s");
          publish(10, 12);
        }
        if (received.sequence === 11) end.abort();
      }
      expect(seen).toEqual([0, 1, 2, 10, 11]);
      await hub.deleteSession("nobody");
    });

    const recorded = (sequence: number, over: "all" | readonly string[], of: Partial<Delta> = {}) =>
      hub.publish(createDelta(sequence, { body: { type: "recorded", sequence: 1, completed: over }, ...of }));
    const shown = async (session = "s") =>
      (await hub.readSnapshot(session)).deltas.map(({ delta: { body } }) =>
        "text" in body ? body.text : body.type,
      );

    test("a snapshot is the output so far, with joined chunks, and the rest follows after its offset", async () => {
      expect(await hub.readSnapshot("s")).toEqual({ deltas: [], offset: 0 });
      const body = (text: string, type: "text" | "thinking" = "text") => ({ body: { type, text } as const });
      hub.publish(createDelta(0, { body: { type: "attempt" } }));
      hub.publish(createDelta(1, body("hm", "thinking")));
      hub.publish(createDelta(2, body("m", "thinking")));
      hub.publish(createDelta(3, body("One ")));
      hub.publish(createDelta(4, body("two ")));
      hub.publish(createDelta(5, body("three ")));
      await hub.flush();
      expect(await shown()).toEqual(["attempt", "hmm", "One two three "]);
      const { deltas, offset } = await hub.readSnapshot("s");
      expect(deltas.at(-1)).toMatchObject({ offset, delta: { sequence: 5 } });
      hub.publish(createDelta(6, body("four")));
      expect(await readNext(hub, 1, offset)).toMatchObject({ sequences: [6] });
    });

    test("a snapshot joins the arguments of one call, and separates those of several", async () => {
      const piece = (toolCallId: string, text: string) =>
        ({ body: { type: "tool-call", toolCallId, toolName: "read", text } }) as const;
      const sent = [piece("a", '{"n"'), piece("a", ":1}"), piece("b", '{"n"'), piece("b", ":2}")];
      for (const [sequence, body] of sent.entries()) hub.publish(createDelta(sequence, body));
      await hub.flush();
      expect((await hub.readSnapshot("s")).deltas.map(({ delta }) => delta.body)).toEqual([
        piece("a", '{"n":1}').body,
        piece("b", '{"n":2}').body,
      ]);
    });

    test("a snapshot up to an offset and the deltas after that offset together are complete", async () => {
      publish(0, 30);
      await hub.flush();
      const { offsets } = await readNext(hub, 30);
      const whole = Array.from({ length: 30 }, (_, index) => `word ${index}`).join("");
      for (const [index, to] of offsets.entries()) {
        const { deltas, offset } = await hub.readSnapshot("s", { to });
        expect(offset).toBe(to);
        const [only] = deltas;
        const text = only?.delta.body.type === "text" ? only.delta.body.text : "";
        expect(whole.startsWith(text) && text.endsWith(`word ${index}`)).toBe(true);
      }
    });

    test("a snapshot leaves out output that a newer attempt has made void", async () => {
      const attempt = (number: number, generation = 1) => ({ attempt: number, generation });
      publish(0, 3);
      hub.publish(createDelta(0, { ...attempt(2), body: { type: "attempt" } }));
      publish(3, 4);
      publish(1, 3, attempt(2));
      await hub.flush();
      expect(await shown()).toEqual(["attempt", "word 1word 2"]);
      hub.publish(createDelta(0, { ...attempt(1, 2), body: { type: "attempt" } }));
      await hub.flush();
      expect(await shown()).toEqual(["attempt"]);
    });

    test("recorded output is removed: an answer, a call's output, a whole turn", async () => {
      const output = (toolCallId: string) =>
        ({ body: { type: "tool-output", toolCallId, toolName: "bash", text: toolCallId } }) as const;
      publish(0, 2);
      hub.publish(createDelta(2, output("a")));
      hub.publish(createDelta(3, output("b")));
      publish(4, 5, { loopId: "another" });
      recorded(5, []);
      const expectKept = async (...texts: string[]) => {
        await hub.flush();
        await eventually(async () => (await shown()).join() === texts.join(), {
          what: `only ${texts.join()}`,
        });
      };
      await expectKept("a", "b", "word 4");
      recorded(6, ["a"]);
      await expectKept("b", "word 4");
      recorded(7, "all");
      publish(8, 9);
      await expectKept("word 4", "word 8");
      recorded(9, "all");
      recorded(10, "all", { loopId: "another" });
      await expectKept();
      await eventually(bench.isEmpty, { what: "the removal of what is recorded" });
    });

    test("offsets continue after all stored data is removed, for every process", async () => {
      let last = 0;
      for (let round = 0; round < 5; round++) {
        const writer = round % 2 === 0 ? hub : await bench.reopen();
        writer.publish(createDelta(round));
        await writer.flush();
        const { offsets } = await readNext(hub, 1, last);
        expect(offsets[0]).toBeGreaterThan(last);
        last = offsets[0] ?? 0;
        writer.publish(createDelta(0, { body: { type: "recorded", sequence: 1, completed: "all" } }));
        await writer.flush();
        await eventually(bench.isEmpty, { what: "the removal of what is recorded" });
        expect((await hub.readSnapshot("s")).offset).toBeGreaterThanOrEqual(last);
        if (writer !== hub) await writer.close();
      }
    });

    test("while several processes publish and remove recorded output, no reader loses unrecorded output", async () => {
      const other = await bench.reopen();
      const end = new AbortController();
      const seen = new Map<string, number[]>([
        ["one", []],
        ["two", []],
      ]);
      let offset = 0;
      let isRecorded = false;
      const total = 1200;
      const watching = (async () => {
        for await (const { offset: at, delta: one } of hub.watch({ session: "s", signal: end.signal })) {
          expect(at).toBeGreaterThan(offset);
          offset = at;
          if (one.body.type !== "recorded") seen.get(one.loopId)?.push(one.sequence);
          // A slow reader may miss the first's last output, which is recorded, but not the announcement.
          else if (one.sequence === total - 1) isRecorded = true;
          if (isRecorded && seen.get("two")?.at(-1) === total - 1) end.abort();
        }
      })();
      for (let sequence = 0; sequence < total; sequence++) {
        // The first reports frequently that its output is recorded; the second only at the end.
        hub.publish(createDelta(sequence, { loopId: "one" }));
        other.publish(createDelta(sequence, { loopId: "two" }));
        if (sequence % 100 === 99) recorded(sequence, "all", { loopId: "one" });
        if (sequence % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await watching;
      expect(seen.get("two")).toEqual(Array.from({ length: total }, (_, index) => index));
      // A slow reader may miss recorded output; the rest arrives in order.
      expect(seen.get("one")).toEqual([...(seen.get("one") ?? [])].sort((a, b) => a - b));
      await eventually(
        async () => (await hub.readSnapshot("s")).deltas.every(({ delta: { loopId } }) => loopId === "two"),
        { what: "the removal of what is recorded" },
      );
      await other.close();
    });

    test("a slow subscriber receives everything at its own pace, and does not delay others", async () => {
      const slow = hub.watch({ session: "s", signal: new AbortController().signal })[Symbol.asyncIterator]();
      publish(0, 10);
      await hub.flush();
      expect((await slow.next()).value.delta.sequence).toBe(0);
      publish(10, 5000);
      await hub.flush();
      const quick = await readNext(hub, 5000);
      expect(quick.sequences).toHaveLength(5000);
      for (let sequence = 1; sequence < 5000; sequence++)
        expect((await slow.next()).value.delta.sequence).toBe(sequence);
      await slow.return?.(undefined);
    });

    test("a hundred subscribers of one session receive the same", async () => {
      const watching = Array.from({ length: 100 }, () => readNext(hub, 500));
      for (let sequence = 0; sequence < 500; sequence += 50) {
        publish(sequence, sequence + 50);
        await hub.flush();
      }
      const [first, ...others] = await Promise.all(watching);
      expect(first?.sequences).toEqual(Array.from({ length: 500 }, (_, index) => index));
      for (const one of others) expect(one).toEqual(first);
    });

    test("a subscription ends with its signal and with the hub", async () => {
      const aborted = AbortSignal.abort();
      for await (const _ of hub.watch({ session: "s", signal: aborted })) expect.unreachable();
      const watching = readNext(hub, 1);
      await hub.close();
      expect((await watching).sequences).toEqual([]);
    });
  });
}
