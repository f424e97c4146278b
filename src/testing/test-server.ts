import type { DevServer } from "../devserver/dev-server.ts";
import { startDevServer } from "../devserver/start-server.ts";

/** Starts a separate Temporal server on free ports, without persistent data. It ends with this process, or by `stop`. */
export function startTestServer(): Promise<DevServer> {
  return startDevServer({ ephemeral: true });
}
