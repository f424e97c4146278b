import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection, Worker } from "@temporalio/worker";
import { DEFAULT_TASK_QUEUE } from "../config/home.ts";
import { readVersioning } from "../config/worker-environment.ts";
import { EncryptionCodec } from "../platform/encryption/encryption-codec.ts";
import { addKeysToIdentity } from "../platform/encryption/worker-keys.ts";
import { openAgentHost, prepareAgentHost, runWithDrain } from "./agent-host.ts";
import { resolveBuiltFile } from "./built-file.ts";
import { buildDeploymentOptions } from "./deployment.ts";
import type { HoldfastWorker, HoldfastWorkerOptions } from "./options.ts";
import { WORKER_SETTINGS } from "./settings.ts";

/**
 * Builds a worker: transcript, live output, vendors, tools, activities, workflows. The worker is registered when this
 * resolves, and polls for work as soon as it runs.
 */
export async function createWorker(options: HoldfastWorkerOptions = {}): Promise<HoldfastWorker> {
  const config = readConfig();
  const address = options.address ?? config.connectionOptions.address ?? "localhost:7233";
  const namespace = options.namespace ?? config.namespace ?? "default";
  const taskQueue = options.taskQueue ?? DEFAULT_TASK_QUEUE;
  const connectionOptions = { ...config.connectionOptions, ...options.connection };
  const host = prepareAgentHost(options, { namespace, taskQueue, connectionOptions });
  const connection = await NativeConnection.connect({ ...connectionOptions, address }).catch(
    (error: unknown) => {
      throw buildUnreachableError(address, error);
    },
  );
  const opened: (() => Promise<void>)[] = [() => connection.close()];
  const closeAll = async () => {
    for (const close of opened.reverse()) await close();
  };
  try {
    await connection.workflowService.describeNamespace({ namespace });
    const { activities, close } = await openAgentHost(host, connection);
    opened.push(close);
    const { self, drain, drainMs, encryption } = host;
    const { interceptors, ...temporal } = options.temporal ?? {};
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue,
      workflowBundle: { codePath: resolveBuiltFile("workflow-bundle.js") },
      dataConverter: {
        payloadCodecs: [new EncryptionCodec(encryption)],
        ...(encryption.payloads
          ? { failureConverterPath: resolveBuiltFile("platform/encryption/failure-converter.js") }
          : {}),
      },
      activities,
      identity: addKeysToIdentity(self.id, encryption),
      ...WORKER_SETTINGS,
      shutdownGraceTime: drainMs,
      ...buildDeploymentOptions(options.versioning ?? readVersioning(process.env)),
      ...temporal,
      interceptors: {
        ...interceptors,
        activity: [...host.interceptors, ...(interceptors?.activity ?? [])],
      },
    });
    return {
      id: self.id,
      address,
      namespace,
      taskQueue,
      run: () => runWithDrain(worker, drain, () => worker.run()).finally(closeAll),
      shutdown: () => {
        if (worker.getState() !== "RUNNING") return drain.releaseNow();
        worker.shutdown();
        drain.begin();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Builds a helpful error, because the engine's own message names only its library. */
function buildUnreachableError(address: string, cause: unknown): Error {
  const causeText = cause instanceof Error ? cause.message : String(cause);
  const reason = /message: "([^"]+)"/.exec(causeText)?.[1] ?? causeText;
  const advice = "Start one with `holdfast dev`, or name another with --address or TEMPORAL_ADDRESS.";
  return new Error(`No Temporal server can be reached at ${address}: ${reason}. ${advice}`, { cause });
}

/**
 * Reads Temporal's configuration. An empty `TEMPORAL_CONFIG_FILE` names no file, but Temporal's own reader fails on
 * it.
 */
function readConfig(): ReturnType<typeof loadClientConnectConfig> {
  return loadClientConnectConfig({ disableFile: process.env["TEMPORAL_CONFIG_FILE"] === "" });
}
