/**
 * Runs agents in a Temporal worker that you have: a plugin for Temporal's `Worker`, `Client` and `bundleWorkflowCode`.
 *
 * @module plugin
 */

import type { ClientPlugin, ConnectionPlugin } from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import type {
  BundleOptions,
  BundlerPlugin,
  NativeConnectionPlugin,
  ReplayWorkerOptions,
  Worker,
  WorkerOptions,
  WorkerPlugin,
} from "@temporalio/worker";
import { EncryptionCodec } from "../platform/encryption/encryption-codec.ts";
import { type Encryption, resolveEncryption } from "../platform/encryption/resolve-encryption.ts";
import type { AgentDefinitionInput } from "../schema/definition.ts";
import { mergeWorkflows } from "./merge-workflows.ts";
import type { AgentHostOptions } from "./options.ts";
import type { WorkerSetup } from "./worker-setup.ts";

export type { AgentDefinitionInput } from "../schema/definition.ts";
export type { AgentHostOptions, HoldfastWorkerOptions } from "./options.ts";

// The entry point `holdfast/plugin`. A process that has only a client must not load Temporal's worker, so everything that
// a worker needs is imported when a worker is created.

/** The settings of agents that workflows of the application start. */
export type PluginRunSettings = {
  /** Runs quick tools as local activities; on by default. When off, the timeline displays a bar for every step. */
  readonly localSteps?: boolean;
  /** Temporal stores only kinds, numbers and states of a run, and none of its texts. By default `HOLDFAST_REDACT_CONTENT`. */
  readonly redactContent?: boolean;
};

/** What the plugin adds to a worker. A client uses only `encryption`. */
export type HoldfastPluginOptions = AgentHostOptions & {
  /** Agents that workflows start by name: `executeAgent({ agent: "reviewer", … })`. */
  readonly agents?: Readonly<Record<string, AgentDefinitionInput>>;
  /** Switch this off for servers where Holdfast's search attributes are not registered. */
  readonly searchAttributes?: boolean;
  /** How runs behave that workflows of the application start. */
  readonly settings?: PluginRunSettings;
};

/** The plugin, for each of the places where Temporal accepts one. */
export type HoldfastPlugin = WorkerPlugin &
  ClientPlugin &
  BundlerPlugin &
  ConnectionPlugin &
  NativeConnectionPlugin;

/**
 * Returns a plugin for Temporal's `Worker`, `Client` and `bundleWorkflowCode`, by which a worker with workflows and
 * activities of its own also runs agents.
 *
 * The worker opens the stores when it runs, and closes them when it has ended. A connection that has the plugin passes it on
 * to its workers and clients.
 */
export function holdfastPlugin(options: HoldfastPluginOptions = {}): HoldfastPlugin {
  return new Plugin(options);
}

class Plugin implements HoldfastPlugin {
  readonly name = "holdfast";
  readonly #options: HoldfastPluginOptions;
  /** The setups of workers, by the function of one of their activities. */
  readonly #setups = new WeakMap<object, WorkerSetup>();
  #encryption: Encryption | undefined;

  constructor(options: HoldfastPluginOptions) {
    this.#options = options;
  }

  configureClient<Options extends { readonly dataConverter?: DataConverter }>(options: Options): Options {
    return { ...options, ...this.#convertData(options.dataConverter) };
  }

  configureBundler(options: BundleOptions): BundleOptions {
    return mergeWorkflows(options);
  }

  async configureReplayWorker(options: ReplayWorkerOptions): Promise<ReplayWorkerOptions> {
    const { addWorkflows } = await import("./worker-setup.ts");
    return addWorkflows({ ...options, ...this.#convertData(options.dataConverter) });
  }

  async configureWorker(options: WorkerOptions): Promise<WorkerOptions> {
    // A worker and its connection may both have the plugin.
    if (this.#findSetup(options.activities) !== undefined) return options;
    const { setUpWorker } = await import("./worker-setup.ts");
    const setup = await setUpWorker(this.#options, options);
    this.#setups.set(setup.mark, setup);
    return { ...setup.options, ...this.#convertData(setup.options.dataConverter) };
  }

  runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const setup = this.#findSetup(Object.fromEntries(worker.options.activities));
    return setup === undefined ? next(worker) : setup.run(worker, () => next(worker));
  }

  #findSetup(activities: object | undefined): WorkerSetup | undefined {
    return Object.values(activities ?? {})
      .map((activity) => (typeof activity === "function" ? this.#setups.get(activity) : undefined))
      .find((setup) => setup !== undefined);
  }

  /** Adds the codec. It is the first one to encode, so that it marks what it has decrypted last. */
  #convertData(dataConverter: DataConverter | undefined): { dataConverter?: DataConverter } {
    this.#encryption ??= resolveEncryption(this.#options.encryption);
    const codecs = dataConverter?.payloadCodecs ?? [];
    if (this.#encryption.ring === undefined || codecs.some((codec) => codec instanceof EncryptionCodec)) {
      return dataConverter === undefined ? {} : { dataConverter };
    }
    const payloadCodecs = [new EncryptionCodec(this.#encryption), ...codecs];
    return { dataConverter: { ...dataConverter, payloadCodecs } };
  }
}
