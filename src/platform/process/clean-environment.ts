import { CALL_VARIABLE } from "./process-group.ts";

export const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

const INHERITED_VARIABLES = ["PATH", "HOME", "LANG", "TMPDIR", "USER", "SHELL"];

/**
 * What a spawned tool may know of the worker's environment: a list of what is let through, so that keys of
 * the worker stay with it.
 */
export function buildCleanEnvironment(
  call: string,
  allowed: readonly string[] = [],
  source: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const environment: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined) continue;
    if (INHERITED_VARIABLES.includes(name) || name.startsWith("LC_") || allowed.includes(name))
      environment[name] = value;
  }
  return { ...environment, TERM: "dumb", [CALL_VARIABLE]: call };
}
