import { setTimeout as sleep } from "node:timers/promises";
import { followPostgres, startPostgres } from "../parts/postgres.mjs";
import { startProxy } from "../parts/proxy.mjs";
import { AT_WORK_MS, judgeWave, play, VARIED_SCENARIOS } from "../parts/wave.mjs";

export default {
  name: "postgres-failover-runs",
  plays:
    "Three workers keep their transcript in PostgreSQL, which dies; its synchronous replica takes its place.",
  promise: "The runs go on with the replica. Every call runs; nothing is lost, doubled or run twice.",
  limitMs: 240_000,
  play: async (stage) => {
    const primary = await startPostgres(stage);
    const replica = await followPostgres(stage, primary);
    const proxy = await startProxy(stage, primary.port);
    return await play(stage, {
      workers: [[], [], []],
      env: { HOLDFAST_DATABASE_URL: primary.url.replace(`:${primary.port}/`, `:${proxy.port}/`) },
      scenarios: VARIED_SCENARIOS,
      during: async () => {
        await sleep(AT_WORK_MS);
        await primary.kill();
        await replica.promote();
        proxy.retarget(replica.port);
      },
    });
  },
  judge: (evidence) => judgeWave(evidence),
};
