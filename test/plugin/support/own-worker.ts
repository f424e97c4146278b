import { fileURLToPath } from "node:url";
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Worker,
  type WorkerOptions,
} from "@temporalio/worker";
import { TEST_KEY_NAME } from "../../../src/testing/test-agent.ts";
import type { HoldfastPluginOptions } from "../../../src/worker/plugin.ts";
import { holdfastPlugin } from "../../../src/worker/plugin.ts";
import { eventually } from "../../support/eventually.ts";
import { silenceTemporal, TEST_KEY, type TestEnvironment } from "../../workflows/support/test-environment.ts";

export const WORKFLOWS = resolveHere("workflows.ts");
export const CONVERTER = resolveHere("payload-converter.cjs");
export const CLASHING_WORKFLOWS = resolveHere("clashing-workflows.ts");

function resolveHere(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

/** A worker of an application on a connection of its own, with the plugin. */
export type OwnWorker = {
  readonly worker: Worker;
  readonly connection: NativeConnection;
  /** Lets running work end, then resolves. */
  readonly stop: () => Promise<void>;
};

let bundle: ReturnType<typeof bundleWorkflowCode> | undefined;

/** Bundles the workflows of the application once, as its build does. */
export function bundleOwnWorkflows(): ReturnType<typeof bundleWorkflowCode> {
  bundle ??= bundleWorkflowCode({
    workflowsPath: WORKFLOWS,
    plugins: [holdfastPlugin()],
    logger: new DefaultLogger("ERROR"),
  });
  return bundle;
}

export async function startOwnWorker(
  stage: TestEnvironment,
  plugin: HoldfastPluginOptions = {},
  options: Partial<WorkerOptions> = {},
): Promise<OwnWorker> {
  silenceTemporal();
  const connection = await NativeConnection.connect({ address: stage.address });
  try {
    const worker = await Worker.create({
      connection,
      namespace: stage.namespace,
      taskQueue: stage.taskQueue,
      ...("workflowBundle" in options ? {} : { workflowBundle: await bundleOwnWorkflows() }),
      shutdownGraceTime: "1 second",
      plugins: [holdfastPlugin(buildPluginOptions(stage, plugin))],
      ...options,
    });
    const running = worker.run();
    const failed = running.then(() => undefined);
    await Promise.race([
      failed,
      eventually(() => worker.getState() !== "INITIALIZED", { what: "the worker polls", everyMs: 10 }),
    ]);
    return {
      worker,
      connection,
      stop: async () => {
        if (worker.getState() === "RUNNING") worker.shutdown();
        await running.finally(() => connection.close());
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

export function buildPluginOptions(
  stage: TestEnvironment,
  plugin: HoldfastPluginOptions,
): HoldfastPluginOptions {
  return {
    home: stage.home,
    defaultWorkspace: stage.home,
    secrets: (name: string) => (name === TEST_KEY_NAME ? TEST_KEY : undefined),
    ...plugin,
  };
}
