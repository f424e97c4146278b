import { setTimeout as sleep } from "node:timers/promises";
import { judgeDevAgents, playOnDev } from "../parts/dev-agents.mjs";
import { mountDisk } from "../parts/disk.mjs";

const FULL_MS = 5_000;

export default {
  name: "full-disk-dev",
  plays:
    "The disk with the home of `holdfast dev` (transcript, server and logs) fills up while agents work; after five seconds it has room again.",
  promise:
    "dev stays alive, or restarts what has died; the agents answer, and each of their commands runs once.",
  play: async (stage) => {
    const disk = mountDisk(stage, stage.subfolder("home"), { megabytes: 64 });
    return await playOnDev(stage, disk.folder, async () => {
      disk.fill();
      await sleep(FULL_MS);
      disk.free();
    });
  },
  judge: judgeDevAgents,
};
