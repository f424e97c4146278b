import { type DevServer, startDevServer } from "../devserver/start-server.ts";

/** A Temporal server of its own, on free ports, that leaves nothing behind. Ends with this process, or by `stop`. */
export function startTestServer(): Promise<DevServer> {
  return startDevServer({ ephemeral: true });
}
