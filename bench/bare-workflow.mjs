import { proxyActivities } from "@temporalio/workflow";

const { first, second } = proxyActivities({ startToCloseTimeout: "1 minute" });

/** Runs the minimum of any agent loop on Temporal: two sequential activities a turn. */
async function runBareLoop(turns) {
  for (let turn = 0; turn < turns; turn++) {
    await first();
    await second();
  }
}

// The name of an export is the type of its workflow.
export { runBareLoop as bare };
