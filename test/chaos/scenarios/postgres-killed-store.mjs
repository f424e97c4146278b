import { setTimeout as sleep } from "node:timers/promises";
import { keepBusy, startPostgres } from "../parts/postgres.mjs";
import { judgeWriters, writeThrough } from "../parts/store-writers.mjs";

const KILLS = 8;

/**
 * Commits wait up to 100 ms to be flushed together, and nothing else is flushed: at the moment of a kill many commits are
 * under way of which nothing is on disk. Their transaction numbers are given out again after the restart.
 */
const SETTINGS = {
  commit_delay: 100_000,
  commit_siblings: 0,
  wal_writer_delay: "10s",
  wal_writer_flush_after: "100MB",
};

export default {
  name: "postgres-killed-store",
  plays:
    "PostgreSQL dies hard eight times while 24 sessions write to it; a neighbour uses the same server, as Temporal may.",
  promise:
    "What was acknowledged is there, once. A claim is never taken for that of a dead worker when none has died.",
  isQuick: true,
  play: async (stage) => {
    const postgres = await startPostgres(stage, { settings: SETTINGS });
    keepBusy(stage, postgres.url);
    return await writeThrough(postgres.url, async () => {
      for (let nth = 0; nth < KILLS; nth += 1) {
        await sleep(300 + Math.random() * 500);
        await postgres.kill();
        await postgres.start();
      }
      await sleep(500);
    });
  },
  judge: judgeWriters,
};
