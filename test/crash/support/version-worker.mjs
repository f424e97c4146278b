// A worker with a workflow bundle of its own: the next release of Holdfast, as far as a run can see.
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { createWorker } from "../../../dist/worker.js";

Runtime.install({ logger: new DefaultLogger("ERROR") });

const [address, namespace, home, taskQueue, codePath] = process.argv.slice(2);
const worker = await createWorker({
  address,
  namespace,
  home,
  taskQueue,
  temporal: { workflowBundle: { codePath } },
});
process.stdout.write("ready\n");
await worker.run();
