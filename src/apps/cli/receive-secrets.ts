import { isMainThread } from "node:worker_threads";
import { receiveEnvironment } from "../../config/receive-environment.ts";

// Loaded into a worker before its program: it takes over the secrets that its parent has sent. Threads load it too, and
// have the variables already.

if (isMainThread) receiveEnvironment();
