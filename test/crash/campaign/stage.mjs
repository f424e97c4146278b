import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import { startDevServer } from "../../../dist/devserver/start-server.js";
import { startProgram } from "./process.mjs";
import { VendorLog } from "./vendor-log.mjs";

const VENDOR = fileURLToPath(new URL("vendor.mjs", import.meta.url));

/** What all waves of a campaign share: a Temporal server, the vendor, a folder. */
export async function openStage({ folder } = {}) {
  const home = folder ?? (await mkdtemp(join(tmpdir(), "holdfast-crash-")));
  // The campaign talks to its own server, whatever Temporal's configuration on this machine says.
  for (const name of Object.keys(process.env)) if (name.startsWith("TEMPORAL_")) delete process.env[name];
  process.env.TEMPORAL_CONFIG_FILE = "";
  const server = await startDevServer({ ephemeral: true });
  const path = join(home, "vendor.jsonl");
  const vendor = startProgram(VENDOR, { args: [path], log: join(home, "vendor.log") });
  const { url } = await vendor.ready;
  const connection = await Connection.connect({ address: server.address });
  const vendorLog = new VendorLog(path);
  const reading = setInterval(() => void vendorLog.read().catch(() => {}), 25);
  return {
    folder: home,
    address: server.address,
    namespace: server.namespace,
    vendorUrl: url,
    vendorLog,
    client: new Client({ connection, namespace: server.namespace }),
    async close({ keep = false } = {}) {
      clearInterval(reading);
      await connection.close();
      await vendor.end("SIGKILL");
      await server.stop();
      if (!keep) await rm(home, { recursive: true, force: true });
    },
  };
}
