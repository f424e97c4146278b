import type { TestProject } from "vitest/node";
import { startDevServer } from "../../src/devserver/start-server.ts";
import { hasTestsFor } from "./test-suffixes.ts";

/** The shared Temporal server of the run; tests are isolated by task queue and workflow id. */
export interface TestServerInfo {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string;
}

declare module "vitest" {
  interface ProvidedContext {
    temporal: TestServerInfo;
  }
}

/** Starts one temporary server for all tests that request it with `inject("temporal")`. */
export async function startTestServer(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!(await hasTestsFor(project, ["server", "postgres", "crash"]))) return undefined;
  const server = await startDevServer({ ephemeral: true });
  const { address, namespace, uiUrl = "" } = server;
  project.provide("temporal", { address, namespace, uiUrl });
  return () => server.stop();
}
