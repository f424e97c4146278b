import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import { startDevServer } from "../../../dist/devserver/start-server.js";
import { findServerProcess } from "./find-server.mjs";
import { startProgram } from "./process.mjs";
import { VendorLog } from "./vendor-log.mjs";

const VENDOR = fileURLToPath(new URL("vendor.mjs", import.meta.url));

/** What all waves of a campaign share: a Temporal server, the vendor, a folder. */
export async function openEnvironment() {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-crash-"));
  // The campaign talks to its own server, whatever Temporal's configuration on this machine says.
  for (const name of Object.keys(process.env)) if (name.startsWith("TEMPORAL_")) delete process.env[name];
  process.env.TEMPORAL_CONFIG_FILE = "";
  // Where nothing is said, on every host the same; `HOLDFAST_SANDBOX=workspace` kills workers with sandboxed commands.
  process.env.HOLDFAST_SANDBOX ??= "off";
  const dataDir = join(folder, "server");
  let server = await startDevServer({ dataDir, port: 0, uiPort: 0 });
  const path = join(folder, "vendor.jsonl");
  const vendor = startProgram(VENDOR, { args: [path], log: join(folder, "vendor.log") });
  const { url } = await vendor.ready;
  const connection = await Connection.connect({ address: server.address });
  const vendorLog = new VendorLog(path);
  const reading = setInterval(() => void vendorLog.read().catch(() => {}), 25);
  let serverBackAtMs = 0;
  return {
    folder,
    address: server.address,
    namespace: server.namespace,
    vendorUrl: url,
    vendorLog,
    client: new Client({ connection, namespace: server.namespace }),
    /** SIGKILL for the Temporal server; then another one on the same file and port. */
    async killServer(awayMs) {
      const { pid } = JSON.parse(await readFile(join(dataDir, "server.json"), "utf8"));
      serverBackAtMs = Number.POSITIVE_INFINITY;
      process.kill(findServerProcess(pid), "SIGKILL");
      await sleep(awayMs);
      const port = Number(server.address.split(":")[1]);
      server = await startDevServer({ dataDir, port, uiPort: 0 });
      serverBackAtMs = Date.now();
    },
    serverBackAtMs: () => serverBackAtMs,
    async close({ keep = false } = {}) {
      clearInterval(reading);
      await connection.close();
      await vendor.end("SIGKILL");
      await server.stop();
      if (!keep) await rm(folder, { recursive: true, force: true });
    },
  };
}
