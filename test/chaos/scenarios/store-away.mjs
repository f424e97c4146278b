import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFinding } from "../findings.mjs";
import { AT_WORK_MS, judgeWave, play } from "../parts/wave.mjs";

const AWAY_MS = 5_000;

export default {
  name: "store-away",
  plays: "The files of the transcript are moved away while agents work, and moved back after five seconds.",
  promise: "Steps wait for the store. No call is lost, no empty transcript is made in its place.",
  isQuick: true,
  play: async (stage) => {
    let wasReplaced = false;
    const played = await play(stage, {
      during: async ({ home }) => {
        await sleep(AT_WORK_MS);
        const files = ["", "-wal", "-shm"].map((end) => join(home, `transcript.db${end}`)).filter(existsSync);
        for (const file of files) renameSync(file, `${file}.away`);
        await sleep(AWAY_MS);
        wasReplaced = existsSync(files[0]);
        for (const file of files) renameSync(`${file}.away`, file);
      },
    });
    return { ...played, wasReplaced };
  },
  judge: ({ wasReplaced, ...evidence }) => [
    ...(wasReplaced
      ? [createFinding("lost", "an empty transcript was made while the true one was away")]
      : []),
    ...judgeWave(evidence),
  ],
};
