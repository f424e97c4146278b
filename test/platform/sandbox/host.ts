import { probeHost } from "../../../src/platform/sandbox/probe-host.ts";

/** Whether this host can start a sandbox, for tests that start one. */
export const HOST = await probeHost();

export const NO_SANDBOX = "this host cannot start a sandbox: see its test in probe-host.test.ts";
