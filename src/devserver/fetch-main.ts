import { findServer } from "./find-server.ts";

// Ensures that this machine has a Temporal server binary. Prints nothing if it already has one.
try {
  await findServer({ onProgress: (line) => process.stderr.write(`holdfast: ${line}\n`) });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
