// The environment of a proof: a scripted model, a test server, a worker in this process, and a client.
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { connect } from "../dist/client/index.js";
import { startModelServer, startTestServer } from "../dist/testing/index.js";
import { createWorker } from "../dist/worker.js";

/**
 * @param respond - Answers as the scripted model.
 * @param home - The folder of the worker and of the client.
 * @param workerOptions - Options of the worker besides.
 * @param endings - Receives the functions that end what was started, to be called in reverse order.
 */
export async function openProofEnvironment({ respond, home, workerOptions, endings }) {
  // Temporal logs the start and end of every worker.
  Runtime.install({ logger: new DefaultLogger("WARN") });
  const model = await startModelServer({ respond, keepBodies: 1 });
  endings.push(() => model.stop());
  const server = await startTestServer();
  endings.push(() => server.stop());
  const target = { address: server.address, namespace: server.namespace, home };
  const worker = await createWorker({ ...target, ...workerOptions });
  const working = worker.run();
  endings.push(async () => {
    worker.shutdown();
    await working;
  });
  const holdfast = await connect(target);
  endings.push(() => holdfast.close());
  return { model, holdfast };
}
