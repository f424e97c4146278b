import { setTimeout as sleep } from "node:timers/promises";
import { AT_WORK_MS, judgeWave, play, VARIED_SCENARIOS } from "../parts/wave.mjs";

export default {
  name: "server-killed",
  plays: "The Temporal server gets SIGKILL twice in the middle of everything and comes back on its file.",
  promise: "The runs go on where they were; approvals that wait still wait.",
  play: async (stage) => {
    const campaign = await stage.campaign();
    return await play(stage, {
      scenarios: [...VARIED_SCENARIOS, "approval-pending"],
      during: async () => {
        await sleep(AT_WORK_MS);
        await campaign.killServer(1_000);
        await sleep(AT_WORK_MS);
        await campaign.killServer(3_000);
      },
    });
  },
  // A worker that lost its server may be taken for dead by the server: its heartbeats are late.
  judge: (evidence) => judgeWave(evidence, { workersDied: true }),
};
