import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { inject } from "vitest";
import { forgetStalls } from "../../../src/activities/step/heartbeat.ts";
import type { InputFilter } from "../../../src/hooks/filters.ts";
import type { SecretSource } from "../../../src/models/secrets.ts";
import { EncryptionCodec } from "../../../src/platform/encryption/encryption-codec.ts";
import {
  type EncryptionOptions,
  resolveEncryption,
} from "../../../src/platform/encryption/resolve-encryption.ts";
import type { Logger } from "../../../src/platform/log.ts";
import { openTranscript } from "../../../src/store/transcript/open-transcript.ts";
import type { Transcript } from "../../../src/store/transcript/transcript.ts";
import { resolveBuiltFile } from "../../../src/testing/built-file.ts";
import { type ModelServer, startModelServer } from "../../../src/testing/model-server/server.ts";
import { TEST_KEY_NAME } from "../../../src/testing/test-agent.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { createWorker, type HoldfastWorkerOptions } from "../../../src/worker.ts";
import { lightenWorkers } from "../../support/in-process-workers.ts";
import { type SessionOptions, TestSession } from "./test-session.ts";

/** A text that must appear nowhere but in a request's header. */
export const TEST_KEY = "sk-test-KEYMARKER-0123456789abcdef";

export type TestEnvironmentOptions = {
  readonly tools?: readonly Tool[];
  readonly filters?: Readonly<Record<string, InputFilter>>;
  readonly hooks?: NonNullable<HoldfastWorkerOptions["hooks"]>;
  readonly secrets?: SecretSource;
  readonly builtInTools?: HoldfastWorkerOptions["builtInTools"];
  readonly log?: Logger;
  /** What else the application registers. */
  readonly registered?: Pick<
    HoldfastWorkerOptions,
    | "transforms"
    | "converters"
    | "translations"
    | "compactions"
    | "reducers"
    | "evaluationStrategies"
    | "scorers"
    | "sources"
    | "providers"
    | "limits"
    | "sandbox"
  >;
  /** Placed between the activities and the real transcript. */
  readonly wrap?: (transcript: Transcript) => Transcript;
  /** The settings of worker and client. */
  readonly encryption?: EncryptionOptions;
  /** The address of a database instead of a file. */
  readonly database?: string;
  /** No worker: the test starts its own. */
  readonly worker?: boolean;
  /** Workflows run in a thread of their own, as in production: for tests of how fast something ends. */
  readonly workflowThread?: boolean;
};

/** Everything that a test of whole runs needs: a scripted vendor, a worker, a client, a readable transcript. */
export type TestEnvironment = {
  readonly address: string;
  readonly namespace: string;
  readonly home: string;
  readonly taskQueue: string;
  readonly model: ModelServer;
  readonly transcript: Transcript;
  readonly client: Client;
  /** A session with its script; nothing is started yet. */
  session(options?: SessionOptions): TestSession;
  close(): Promise<void>;
};

let sessions = 0;

export async function openTestEnvironment(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
  forgetStalls();
  const { address, namespace } = inject("temporal");
  const home = await mkdtemp(join(tmpdir(), "holdfast-test-"));
  const taskQueue = `queue-${process.pid}-${performance.now()}`;
  const model = await startModelServer();
  const { database, encryption } = options;
  const transcript = await openTranscript({ path: join(home, "transcript.db"), database, encryption });
  const connection = await Connection.connect({ address });
  const client = new Client({
    connection,
    namespace,
    dataConverter: { payloadCodecs: [new EncryptionCodec(resolveEncryption(options.encryption))] },
  });
  const worker = options.worker === false ? undefined : await createWorkerInProcess();
  const running = worker?.run();

  async function createWorkerInProcess() {
    silenceTemporal();
    return await createWorker({
      address,
      namespace,
      home,
      ...(database === undefined ? {} : { database }),
      taskQueue,
      transcript: options.wrap?.(transcript) ?? transcript,
      secrets: options.secrets ?? ((name: string) => (name === TEST_KEY_NAME ? TEST_KEY : undefined)),
      tools: options.tools ?? [],
      filters: options.filters ?? {},
      builtInTools: options.builtInTools ?? true,
      ...(options.encryption === undefined ? {} : { encryption: options.encryption }),
      ...(options.log === undefined ? {} : { log: options.log }),
      hooks: options.hooks ?? {},
      ...options.registered,
      defaultWorkspace: home,
      temporal: {
        workflowsPath: undefined,
        workflowBundle: { codePath: resolveBuiltFile("workflow-bundle.js") },
        shutdownGraceTime: "1 second",
        // Runs workflows in this thread: one of their own would load the SDK again for each worker. The processes of crash
        // tests and the workers of an application (test/plugin) have that thread.
        debugMode: options.workflowThread !== true,
      } as never,
    });
  }

  const stage: TestEnvironment = {
    address,
    namespace,
    home,
    taskQueue,
    model,
    transcript,
    client,
    session: (sessionOptions = {}) => {
      sessions += 1;
      return new TestSession(stage, `s${sessions}-${taskQueue}`, sessionOptions);
    },
    close: async () => {
      worker?.shutdown();
      await running;
      await model.stop();
      await transcript.close();
      await connection.close();
      await rm(home, { recursive: true, force: true });
    },
  };
  return stage;
}

let isQuiet = false;

export function silenceTemporal(): void {
  if (isQuiet) return;
  isQuiet = true;
  Runtime.install({ logger: new DefaultLogger("ERROR") });
  lightenWorkers();
}
