import { randomUUID } from "node:crypto";
import { HoldfastError } from "../holdfast-error.ts";
import { resolveSessionId } from "../resolve-session-id.ts";

/** The longest suffix of the id: `.` and the name of a part. */
const MAX_JOB_ID_BYTES = 120;

/** Returns the requested job id if it is valid, or a new one. */
export function resolveJobId(requestedId: string | undefined): string {
  const job = resolveSessionId(requestedId ?? randomUUID());
  if (Buffer.byteLength(job) <= MAX_JOB_ID_BYTES) return job;
  const problem = `it has more than ${MAX_JOB_ID_BYTES} bytes, and the ids of its sessions begin with it`;
  throw new HoldfastError("input-invalid", `"${job.slice(0, 80)}" cannot be a job's id: ${problem}.`, {
    problems: [problem],
  });
}
