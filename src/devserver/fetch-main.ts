import { findServer } from "./find-server.ts";

// Makes sure that a Temporal server binary is on this machine; silent when one is.
try {
  await findServer({ onProgress: (line) => process.stderr.write(`holdfast: ${line}\n`) });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
