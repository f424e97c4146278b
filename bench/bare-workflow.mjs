import { condition, executeChild, proxyActivities } from "@temporalio/workflow";

const { first, second } = proxyActivities({ startToCloseTimeout: "1 minute" });

/** Runs the minimum of any agent loop on Temporal: two sequential activities a turn. */
async function runBareLoop(turns) {
  for (let turn = 0; turn < turns; turn++) {
    await first();
    await second();
  }
}

/** Runs bare loops as children, with a window of those that work side by side: the minimum of a suite of agents. */
async function runBareChildren({ children, turns, window }) {
  const ended = [];
  let inFlight = 0;
  for (let n = 0; n < children; n++) {
    await condition(() => inFlight < window);
    inFlight += 1;
    const child = executeChild("bare", { args: [turns] }).then(() => {
      inFlight -= 1;
    });
    ended.push(child);
  }
  await Promise.all(ended);
}

// The name of an export is the type of its workflow.
export { runBareChildren as bareParent, runBareLoop as bare };
