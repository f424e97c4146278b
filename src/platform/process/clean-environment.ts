import { CALL_VARIABLE } from "./process-group.ts";

export const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

const INHERITED_VARIABLES = ["PATH", "HOME", "LANG", "TMPDIR", "USER", "SHELL"];

/**
 * Builds the environment of a tool's process: only listed variables of the worker's environment, so that the
 * worker's keys stay private.
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
