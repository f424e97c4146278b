import { setTimeout as sleep } from "node:timers/promises";
import { followPostgres, startPostgres } from "../parts/postgres.mjs";
import { startProxy } from "../parts/proxy.mjs";
import { judgeWriters, writeThrough } from "../parts/store-writers.mjs";

export default {
  name: "postgres-failover-store",
  plays:
    "24 sessions write to PostgreSQL; it dies hard, and its synchronous streaming replica takes its place.",
  promise:
    "What was acknowledged is on the replica, once: no transaction number of the old server is trusted there.",
  play: async (stage) => {
    const primary = await startPostgres(stage);
    const replica = await followPostgres(stage, primary);
    const proxy = await startProxy(stage, primary.port);
    const failover = async () => {
      await sleep(1_500);
      await primary.kill();
      await replica.promote();
      proxy.retarget(replica.port);
      await sleep(2_500);
    };
    return await writeThrough(primary.url.replace(`:${primary.port}/`, `:${proxy.port}/`), failover);
  },
  judge: judgeWriters,
};
