import { setTimeout as sleep } from "node:timers/promises";
import { mountDisk } from "../parts/disk.mjs";
import { AT_WORK_MS, judgeWave, play, VARIED_SCENARIOS } from "../parts/wave.mjs";

const FULL_MS = 4_000;

export default {
  name: "full-disk-worker",
  plays: "The disk of the store fills up while agents work, and four seconds later it has room again.",
  promise: "The runs wait and go on by themselves; the workers stay alive; nothing is lost.",
  isQuick: true,
  play: async (stage) => {
    const disk = mountDisk(stage, stage.subfolder("small"), { megabytes: 8 });
    return await play(stage, {
      home: disk.folder,
      scenarios: VARIED_SCENARIOS,
      during: async () => {
        await sleep(AT_WORK_MS);
        disk.fill();
        await sleep(FULL_MS);
        disk.free();
      },
    });
  },
  judge: (evidence) => judgeWave(evidence),
};
