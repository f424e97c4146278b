import { isMainThread } from "node:worker_threads";
import { receiveEnvironment } from "../../config/receive-environment.ts";

// Loaded into a worker before its program: receives the secrets from the parent process. Threads load this file too, but
// already have the variables.

if (isMainThread) receiveEnvironment();
