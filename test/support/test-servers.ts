import type { TestProject } from "vitest/node";
import { startTestServer } from "./dev-server.ts";
import { startTestPostgres } from "./postgres-server.ts";

type Stop = (() => Promise<void>) | undefined;

/** Starts the shared servers of the run at the same time; vitest runs the modules of `globalSetup` one after the other. */
export default async function startTestServers(project: TestProject): Promise<() => Promise<void>> {
  const starts = await Promise.allSettled<Stop>([startTestServer(project), startTestPostgres(project)]);
  const stop = async () => {
    await Promise.all(starts.map((start) => (start.status === "fulfilled" ? start.value?.() : undefined)));
  };
  const failed = starts.find((start) => start.status === "rejected");
  if (failed === undefined) return stop;
  await stop();
  throw failed.reason;
}
