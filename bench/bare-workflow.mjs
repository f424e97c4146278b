import { proxyActivities } from "@temporalio/workflow";

const { first, second } = proxyActivities({ startToCloseTimeout: "1 minute" });

/** Runs the minimum of any agent loop on Temporal: two sequential activities a turn. */
export async function runBareLoop(turns) {
  for (let turn = 0; turn < turns; turn++) {
    await first();
    await second();
  }
}
