// Loaded into a worker: its time limits for vendors' answers are a hundredth of the real ones, so that a scenario can wait
// for them.
import { HTTP_LIMITS } from "../../../dist/models/http-client.js";

for (const name of ["firstByteTimeoutMs", "silenceTimeoutMs", "idleTimeoutMs"])
  if (HTTP_LIMITS[name] !== undefined) HTTP_LIMITS[name] /= 100;
