// Loaded into a worker: its time limits for vendors' answers are a hundredth of the real ones, so that a scenario can wait
// for them.
import { HTTP_LIMITS } from "../../../dist/models/http-client.js";

for (const name of ["firstByteTimeoutMs", "bodyTimeoutMs", "stallTimeoutMs"]) {
  if (HTTP_LIMITS[name] === undefined) throw new Error(`The client for vendors has no limit ${name}`);
  HTTP_LIMITS[name] /= 100;
}
