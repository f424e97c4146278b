import { setTimeout as sleep } from "node:timers/promises";
import { AT_WORK_MS, judgeWave, play } from "../parts/wave.mjs";

const FROZEN_MS = 20_000;

export default {
  name: "frozen-worker",
  plays: "One of two workers gets SIGSTOP in the middle of its work and SIGCONT after 20 seconds.",
  promise:
    "The other worker takes over. What the frozen one writes afterwards is refused: nothing is lost, doubled or run twice.",
  play: (stage) =>
    play(stage, {
      workers: [[], []],
      during: async ({ keepers }) => {
        await sleep(AT_WORK_MS);
        keepers[0].signal("SIGSTOP");
        await sleep(FROZEN_MS);
        keepers[0].signal("SIGCONT");
      },
    }),
  // A frozen worker counts as dead while it is frozen: the outcome of its unsafe calls is unknown.
  judge: (evidence) => judgeWave(evidence, { workersDied: true }),
};
