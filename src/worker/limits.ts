import { readTableFile } from "../config/read-table-file.ts";
import { check } from "../schema/check.ts";
import { WorkerLimits } from "../schema/vendor-limits.ts";

/** The variable that names the file with the limits for calls of vendors. */
const VARIABLE = "HOLDFAST_LIMITS";

/** Reads a worker's limits for calls of vendors: from the option, otherwise from a file that the environment names. */
export function readWorkerLimits(configured: WorkerLimits | undefined, env: NodeJS.ProcessEnv): WorkerLimits {
  if (configured === undefined) {
    const path = env[VARIABLE];
    if (path === undefined || path === "") return {};
    return readTableFile(path, { description: "The limits", variable: VARIABLE, schema: WorkerLimits }, env);
  }
  const found = check(WorkerLimits, configured, "limits");
  if (found.ok) return found.value;
  throw new TypeError(`The option limits cannot be used: ${found.problems.join("; ")}`);
}
