import { setTimeout as sleep } from "node:timers/promises";
import { mountExt4 } from "../parts/disk.mjs";
import { AT_WORK_MS, judgeWave, play } from "../parts/wave.mjs";

const READ_ONLY_MS = 4_000;

export default {
  name: "read-only-disk",
  plays:
    "The file system of the store fails and the kernel makes it read-only while agents work. The worker is killed, the file system repaired, mounted again, and a worker started.",
  promise: "What was acknowledged is on the disk; the runs wait, and go on with the next worker.",
  play: async (stage) => {
    const disk = mountExt4(stage, stage.subfolder("device"), { megabytes: 64 });
    return await play(stage, {
      home: disk.folder,
      workers: [[]],
      during: async ({ keepers, keep, reopen }) => {
        await sleep(AT_WORK_MS);
        disk.fail();
        await sleep(READ_ONLY_MS);
        await keepers[0].stop("SIGKILL");
        await reopen(async () => disk.repair());
        await keep([]);
      },
    });
  },
  judge: (evidence) => judgeWave(evidence, { workersDied: true }),
};
