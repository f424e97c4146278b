import { SandboxMode, SandboxSettings, type SandboxSettingsInput } from "../schema/sandbox.ts";

/** The variable that names the sandbox of a worker's processes. */
export const SANDBOX_VARIABLE = "HOLDFAST_SANDBOX";

/** The sandbox where neither a definition nor the worker states one. */
export const DEFAULT_SANDBOX_MODE: SandboxMode = "workspace";

/** Reads the sandbox of a worker: its option, or else the environment. Throws a `TypeError` or a `ZodError`. */
export function readSandbox(
  option: SandboxMode | SandboxSettingsInput | undefined,
  environment: NodeJS.ProcessEnv,
): SandboxSettings {
  if (typeof option === "object") return SandboxSettings.parse(option);
  const mode = option ?? readMode(environment[SANDBOX_VARIABLE]);
  return SandboxSettings.parse({ mode });
}

function readMode(value: string | undefined): SandboxMode {
  return value === undefined || value === ""
    ? DEFAULT_SANDBOX_MODE
    : parseSandboxMode(SANDBOX_VARIABLE, value);
}

/**
 * Parses the mode of a flag or a variable. Throws a `TypeError`.
 *
 * @param name - Where the value is from.
 */
export function parseSandboxMode(name: string, value: string): SandboxMode {
  const parsed = SandboxMode.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new TypeError(`${name} is ${JSON.stringify(value)}: use ${SandboxMode.options.join(", ")}`);
}
