import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../parts/postgres.mjs";
import { startProxy } from "../parts/proxy.mjs";
import { judgeWave, play } from "../parts/wave.mjs";

/** Longer than a single write waits for the store. */
const AWAY_MS = [13_000, 500, 13_000];

/** Many unsafe calls, so that some are claimed at the moment of each kill. */
const SCENARIOS = Array.from(
  { length: 18 },
  (_, nth) => ["parallel", "batched-with-steering", "plain"][nth % 3],
);

export default {
  name: "postgres-killed-runs",
  plays:
    "Three workers keep their transcript in PostgreSQL, which dies hard three times, each time in the middle of claims, and stays away for up to 13 seconds.",
  promise:
    "Steps wait for the store. Every call runs, and no model is told that a worker died when none did; nothing is lost or doubled.",
  limitMs: 300_000,
  play: async (stage) => {
    const postgres = await startPostgres(stage);
    const proxy = await startProxy(stage, postgres.port);
    return await play(stage, {
      workers: [[], [], []],
      scenarios: SCENARIOS,
      env: { HOLDFAST_DATABASE_URL: postgres.url.replace(`:${postgres.port}/`, `:${proxy.port}/`) },
      during: async ({ runs }) => {
        for (const awayMs of AWAY_MS) {
          await sleep(1_000);
          if (runs.every(({ closedAtMs }) => closedAtMs !== undefined)) return;
          await Promise.race([proxy.hears("INSERT INTO steps"), sleep(5_000)]);
          await postgres.kill();
          await sleep(awayMs);
          await postgres.start();
        }
      },
    });
  },
  judge: (evidence) => judgeWave(evidence),
};
