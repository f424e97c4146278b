import { expect, onTestFinished, test } from "vitest";
import { NO_ENCRYPTION, resolveEncryption } from "../../src/platform/encryption/resolve-encryption.ts";
import { createEncryptedLineCodec } from "../../src/store/stream/encrypted-line-codec.ts";
import { HoldingHub } from "../../src/store/stream/holding-hub.ts";
import type { LineCodec } from "../../src/store/stream/line-codec.ts";
import { PostgresHub } from "../../src/store/stream/postgres/postgres-hub.ts";
import { containsText } from "../support/encoded-text.ts";
import { eventually } from "../support/eventually.ts";
import { findPostgresBinaries, NO_POSTGRES, startPostgres } from "../support/postgres.ts";
import { describeIf, testIf } from "../support/skipping.ts";
import { thoroughDescribe, thoroughTest } from "../support/test-depth.ts";
import { findMissingPostgres, PostgresFixture } from "../transcript/postgres-fixture.ts";
import { testHolding } from "./holding-contract.ts";
import { createDelta, readNext, testHubContract } from "./hub-contract.ts";

describeIf(findMissingPostgres() === undefined, NO_POSTGRES)("live output in PostgreSQL", () => {
  const bench = PostgresFixture.forEachTest();

  testHubContract("PostgresHub", async () => {
    const hub = new PostgresHub(bench.url);
    return {
      hub,
      reopen: async (codec) => new PostgresHub(bench.url, codec === undefined ? {} : { codec }),
      isEmpty: async () =>
        (await kept()).every(({ delta: text }) => JSON.parse(text).body.type === "recorded"),
      dispose: () => hub.close(),
    };
  });

  thoroughDescribe("held back", () =>
    testHubContract("HoldingHub over PostgreSQL", async () => {
      const hub = openHolding();
      return {
        hub,
        reopen: async (codec) => openHolding(codec),
        isEmpty: async () =>
          (await kept()).every(({ delta: text }) => JSON.parse(text).body.type === "recorded"),
        dispose: () => hub.close(),
      };
    }),
  );

  testHolding("PostgreSQL", async () => ({
    open: () => openHolding(),
    isUnwritten: async () => {
      const [table] = await bench.sql<{ there: string | null }>("SELECT to_regclass('deltas') AS there");
      return table?.there === null || (await kept()).length === 0;
    },
    abandonWatch: async (session) => {
      const hub = new PostgresHub(bench.url);
      await hub.flush();
      await hub.readSnapshot(session);
      await hub.close();
      await bench.sql(
        `INSERT INTO watches VALUES ('dead', '${session}', clock_timestamp() - interval '1 second')`,
      );
    },
  }));

  function openHolding(codec?: LineCodec): HoldingHub {
    const store = new PostgresHub(bench.url, codec === undefined ? {} : { codec });
    return new HoldingHub(store, store.watches);
  }

  const codec = createEncryptedLineCodec(
    resolveEncryption({ keys: "a=env:LIVE_KEY" }, { LIVE_KEY: Buffer.alloc(32, 7).toString("base64") }),
  );

  thoroughDescribe("encrypted", () =>
    testHubContract("PostgresHub with keys", async () => {
      const hub = new PostgresHub(bench.url, { codec });
      return {
        hub,
        reopen: async (given = codec) => new PostgresHub(bench.url, { codec: given }),
        isEmpty: async () =>
          (await kept()).every(({ delta: line }) => JSON.parse(codec.decode(line)).body.type === "recorded"),
        dispose: async () => {
          await hub.close();
          const [table] = await bench.sql<{ there: string | null }>("SELECT to_regclass('deltas') AS there");
          if (table?.there === null) return;
          expect((await kept()).filter(({ delta: line }) => !line.startsWith("sealed:"))).toEqual([]);
        },
      };
    }),
  );

  test("with keys, the table contains no text of the output; a reader with the keys reads it, one without sees nothing [TMP-09.4]", async () => {
    const word = "MARKERWORD";
    const hub = opened(bench.url, { codec });
    hub.publish(createDelta(0, { body: { type: "text", text: `the ${word}` } }));
    hub.publish(
      createDelta(1, { body: { type: "tool-output", toolCallId: "c", toolName: "t", text: word } }),
    );
    await hub.flush();
    const rows = () => bench.sql<{ row: string }>("SELECT deltas::text AS row FROM deltas ORDER BY position");
    const saying = async () => (await rows()).map(({ row }) => containsText(Buffer.from(row), word));
    expect(await saying()).toEqual([false, false]);
    const other = await opened(bench.url, { codec }).readSnapshot("s");
    expect(other.deltas).toMatchObject([
      { delta: { body: { text: `the ${word}` } } },
      { delta: { body: { text: word } } },
    ]);
    const plain = opened(bench.url, { codec: createEncryptedLineCodec(NO_ENCRYPTION) });
    expect((await plain.readSnapshot("s")).deltas).toEqual([]);
    // Without keys, the table contains the text, and readers with keys can read it too.
    plain.publish(createDelta(2, { body: { type: "text", text: word } }));
    await plain.flush();
    expect(await saying()).toEqual([false, false, true]);
    expect((await readNext(hub, 3)).sequences).toEqual([0, 1, 2]);
  });

  function opened(url = bench.url, options = {}): PostgresHub {
    const hub = new PostgresHub(url, options);
    onTestFinished(() => hub.close());
    return hub;
  }

  const kept = () =>
    bench.sql<{ loop_id: string; delta: string }>("SELECT loop_id, delta FROM deltas ORDER BY position");

  test("recorded output is removed, and the output of other loops and calls stays", async () => {
    const hub = opened();
    const call = (toolCallId: string) =>
      ({ type: "tool-output", toolCallId, toolName: "t", text: toolCallId }) as const;
    hub.publish(createDelta(0));
    hub.publish(createDelta(1, { body: call("done") }));
    hub.publish(createDelta(2, { body: call("at-work") }));
    hub.publish(createDelta(3, { loopId: "another" }));
    hub.publish(createDelta(4, { body: { type: "recorded", sequence: 7, completed: ["done"] } }));
    hub.publish(createDelta(5, { body: { type: "text", text: "of the next turn" } }));
    await hub.flush();
    const texts = async () =>
      (await kept()).map(({ delta: text }) => (JSON.parse(text) as { sequence: number }).sequence);
    await eventually(async () => (await texts()).length === 4, { what: "the removal" });
    expect(await texts()).toEqual([2, 3, 4, 5]);
    hub.publish(createDelta(6, { body: { type: "recorded", sequence: 9, completed: "all" } }));
    await hub.flush();
    await eventually(async () => (await texts()).length === 2, { what: "the second removal" });
    expect(await texts()).toEqual([3, 6]);
  });

  test("a hundred subscribers of a process share one listening connection", async () => {
    const hub = opened(bench.formatUrl({ schema: bench.schema, application_name: "many_watchers" }));
    const watching = Array.from({ length: 100 }, () => readNext(hub, 50));
    for (let sequence = 0; sequence < 50; sequence++) {
      hub.publish(createDelta(sequence));
      if (sequence % 10 === 0) await hub.flush();
    }
    for (const { sequences } of await Promise.all(watching)) {
      expect(sequences).toEqual(Array.from({ length: 50 }, (_, index) => index));
    }
    const text = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'many_watchers'";
    expect((await bench.sql<{ n: number }>(text))[0]!.n).toBeLessThanOrEqual(3);
  });

  test("a subscriber whose connections are cut resumes at its position", async () => {
    const at = bench.formatUrl({ schema: bench.schema, application_name: "cut_watcher" });
    const [hub, other] = [opened(at), opened()];
    const watching = readNext(hub, 20);
    for (let sequence = 0; sequence < 10; sequence++) other.publish(createDelta(sequence));
    await other.flush();
    await bench.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut_watcher'",
    );
    for (let sequence = 10; sequence < 20; sequence++) other.publish(createDelta(sequence));
    expect((await watching).sequences).toEqual(Array.from({ length: 20 }, (_, index) => index));
  });

  thoroughTest(
    "an unavailable database does not block publishers: output that is published meanwhile is dropped",
    async () => {
      const away = opened("postgresql://holdfast@127.0.0.1:1/nowhere", { maxWaitingBytes: 2_000 });
      const begin = performance.now();
      for (let sequence = 0; sequence < 10_000; sequence++) away.publish(createDelta(sequence));
      expect(performance.now() - begin).toBeLessThan(500);
      await away.flush();
      expect(await away.readPublished({ session: "s", run: "r", command: 1, call: 0 })).toEqual([]);
      expect(performance.now() - begin).toBeLessThan(8_000);
    },
  );
});

testIf(findPostgresBinaries() !== undefined, NO_POSTGRES)(
  "after a killed server restarts, offsets, subscribers and publishers continue, and dropped output is announced",
  async () => {
    const server = await startPostgres();
    const url = server.url();
    const hub = new PostgresHub(url);
    try {
      const end = new AbortController();
      const seen: { offset: number; type: string; sequence: number }[] = [];
      const watching = (async () => {
        for await (const { offset, delta: one } of hub.watch({ session: "s", signal: end.signal })) {
          seen.push({ offset, type: one.body.type, sequence: one.sequence });
        }
      })();
      for (let sequence = 0; sequence < 5; sequence++) hub.publish(createDelta(sequence));
      await hub.flush();
      await eventually(() => seen.length === 5, { what: "the first five" });
      await server.kill();
      hub.publish(createDelta(5));
      await hub.flush();
      await server.start();
      await eventually(
        () => {
          hub.publish(createDelta(100));
          return seen.some(({ sequence }) => sequence === 100);
        },
        { timeoutMs: 15_000, everyMs: 100, what: "news after the restart" },
      );
      end.abort();
      await watching;
      const offsets = seen.map(({ offset }) => offset);
      expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
      expect(new Set(offsets).size).toBe(offsets.length);
      expect(seen.some(({ type, sequence }) => sequence === 5 || type === "dropped")).toBe(true);
    } finally {
      await hub.close();
      await server.stop();
    }
  },
);
