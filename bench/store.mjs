// Measures the store's cost of a step: claim and result of steps of many sessions, in a file and in PostgreSQL, one after
// the other in one run. HOLDFAST_DATABASE_URL specifies the database, in which a temporary schema is created and dropped.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { PostgresTranscript } from "../dist/store/transcript/postgres/postgres-transcript.js";
import { SqliteTranscript } from "../dist/store/transcript/sqlite/sqlite-transcript.js";

const NOTHING = { entries: [], events: [] };
const TEXT = "A sentence of an answer, as models write them. ".repeat(20);

export async function measure({ log, quick }) {
  const address = process.env.HOLDFAST_DATABASE_URL;
  if (!address) throw new Error("HOLDFAST_DATABASE_URL must name a PostgreSQL database");
  const steps = quick ? 50 : 1_000;
  const folder = await mkdtemp(join(tmpdir(), "holdfast-bench-"));
  const schema = `bench_${process.pid}`;
  const url = new URL(address);
  url.searchParams.set("schema", schema);
  const sqlite = await SqliteTranscript.open({ path: join(folder, "transcript.db") });
  const postgres = await PostgresTranscript.open({ url: url.href });
  try {
    const figures = {};
    for (const [name, transcript] of [
      ["sqlite", sqlite],
      ["postgres", postgres],
    ]) {
      await measurePairs(transcript, `${name}-warm`, 1, 50);
      for (const inFlight of [1, 50]) {
        const perSecond = await measurePairs(transcript, `${name}-${inFlight}`, inFlight, steps);
        figures[`${name}${inFlight}PerSecond`] = Math.round(perSecond);
        log(`${name}, ${inFlight} in flight: ${Math.round(perSecond)} steps a second`);
      }
    }
    return figures;
  } finally {
    await sqlite.close();
    await postgres.close();
    url.searchParams.delete("schema");
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await client.query(`DROP SCHEMA ${schema} CASCADE`);
    await client.end();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each concurrent line of steps has its own session, as agents do. */
async function measurePairs(transcript, name, inFlight, steps) {
  const lines = await Promise.all(
    Array.from({ length: inFlight }, async (_, line) => {
      const key = {
        session: `${name}-${line}`,
        run: `run-${name}-${line}`,
        call: 0,
        generation: 1,
        process: "bench",
      };
      const step = { ...key, number: 0, kind: "open-loop" };
      const prompts = [{ id: `${name}-${line}`, text: "Go", atMs: 1 }];
      const agent = {
        definitionHash: "d",
        agentName: "bench",
        model: "m",
        segment: "bench",
        kind: { type: "initial" },
      };
      const { loopId } = await transcript.openLoop({ step, atMs: 1, ...agent, prompts });
      return { key, loopId };
    }),
  );
  const begin = performance.now();
  await Promise.all(
    lines.map(async ({ key, loopId }) => {
      for (let at = 1; at <= steps / inFlight; at++) {
        const step = { ...key, number: at, kind: "call-model", activityId: String(at) };
        const target = { loopId, branch: "main", base: at };
        await transcript.claim(step, target, NOTHING, at);
        const message = { role: "user", content: [{ type: "text", text: TEXT }], timestamp: at };
        const entries = [{ position: at, origin: "model", message }];
        await transcript.store({ ...target, step, atMs: at, outbox: NOTHING, entries, result: { at } });
      }
    }),
  );
  return (Math.floor(steps / inFlight) * inFlight * 1000) / (performance.now() - begin);
}
