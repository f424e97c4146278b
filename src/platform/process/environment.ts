import { CALL_VARIABLE } from "./process-group.ts";

export const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

const PASSED_ON = ["PATH", "HOME", "LANG", "TMPDIR", "USER", "SHELL"];

/**
 * What a spawned tool may know of the worker's environment: a list of what is let through, so that keys of
 * the worker stay with it.
 */
export function cleanEnvironment(
  call: string,
  allowed: readonly string[] = [],
  source: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const environment: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined) continue;
    if (PASSED_ON.includes(name) || name.startsWith("LC_") || allowed.includes(name))
      environment[name] = value;
  }
  return { ...environment, TERM: "dumb", [CALL_VARIABLE]: call };
}
