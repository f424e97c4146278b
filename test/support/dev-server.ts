import type { TestProject } from "vitest/node";
import { startDevServer } from "../../src/devserver/start-server.ts";
import { hasTestsFor } from "./test-suffixes.ts";

/** Where the run's one Temporal server is; tests that share it keep apart by task queue and workflow id. */
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

/** Starts one throw-away server for all tests that ask for it with `inject("temporal")`. */
export default async function startTestServer(
  project: TestProject,
): Promise<(() => Promise<void>) | undefined> {
  if (!(await hasTestsFor(project, ["server", "postgres", "crash"]))) return undefined;
  const server = await startDevServer({ ephemeral: true });
  const { address, namespace, uiUrl = "" } = server;
  project.provide("temporal", { address, namespace, uiUrl });
  return () => server.stop();
}
