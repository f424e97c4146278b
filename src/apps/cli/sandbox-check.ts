import { DEFAULT_SANDBOX_MODE, readSandbox, SANDBOX_VARIABLE } from "../../config/sandbox.ts";
import type { HostObstacle, HostProbe } from "../../platform/sandbox/probe-host.ts";
import type { SandboxMode } from "../../schema/sandbox.ts";
import type { Check } from "./doctor-checks.ts";

/** The check of the sandbox, with the facts that a program may decide by. */
export type SandboxCheck = Check & {
  /** Whether this host can make a sandbox. */
  readonly able: boolean;
  /** The sandbox where a definition states none; absent if the variable has no valid value. */
  readonly mode?: SandboxMode;
  /** Why the host cannot. */
  readonly obstacle?: HostObstacle;
};

const NAME = "sandbox";

/** Checks whether this host can make the sandbox of commands and MCP servers, and whether the environment turns it off. */
export function checkSandbox(env: NodeJS.ProcessEnv, probe: HostProbe): SandboxCheck {
  const facts = probe.able ? { able: true } : { able: false, obstacle: probe.obstacle };
  const mode = readMode(env);
  if (typeof mode === "object") {
    const advice = `set ${SANDBOX_VARIABLE} to one of them, or remove it: a worker does not start with this value`;
    return { name: NAME, verdict: "fail", details: mode.problem, advice, ...facts };
  }
  const text = env[SANDBOX_VARIABLE] ?? "";
  const source = text === "" ? `the default` : `${SANDBOX_VARIABLE}=${text}`;
  const ability = probe.able
    ? "this host can make it"
    : `this host cannot make it (${probe.obstacle}): ${probe.attempt}, and got: ${toOneLine(probe.answer)}`;
  const details = `${mode} (${source}); ${ability}`;
  if (mode === "off") {
    const reminder = `commands and MCP servers run with all rights of the worker, unless a definition states a sandbox`;
    const remedy = probe.able
      ? `remove ${SANDBOX_VARIABLE}, or set it to ${DEFAULT_SANDBOX_MODE}`
      : probe.remedy;
    return { name: NAME, verdict: "warn", details, advice: `${reminder}; ${remedy}`, ...facts, mode };
  }
  return probe.able
    ? { name: NAME, verdict: "ok", details, ...facts, mode }
    : { name: NAME, verdict: "fail", details, advice: probe.remedy, ...facts, mode };
}

function readMode(env: NodeJS.ProcessEnv): SandboxMode | { readonly problem: string } {
  try {
    return readSandbox(undefined, env).mode;
  } catch (error) {
    if (error instanceof TypeError) return { problem: error.message };
    throw error;
  }
}

function toOneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, " / ");
}
