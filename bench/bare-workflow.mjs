import { proxyActivities } from "@temporalio/workflow";

const { first, second } = proxyActivities({ startToCloseTimeout: "1 minute" });

/** What any agent loop on Temporal does at least: two activities a turn, one after the other. */
export async function runBareLoop(turns) {
  for (let turn = 0; turn < turns; turn++) {
    await first();
    await second();
  }
}
