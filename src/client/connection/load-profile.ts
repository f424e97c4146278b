import { type ClientConnectConfig, loadClientConnectConfig } from "@temporalio/envconfig";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { HoldfastError } from "../holdfast-error.ts";

/** Returns the process's environment without undefined variables. */
function getDefinedVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Reads the Temporal profile (`--profile`, `TEMPORAL_PROFILE`, else `default`); `TEMPORAL_*` variables override it. */
export function loadProfile(
  profile: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): ClientConnectConfig {
  try {
    return loadClientConnectConfig({
      ...omitUndefined({ profile }),
      overrideEnvVars: getDefinedVariables(env),
    });
  } catch (error) {
    const what = profile === undefined ? "" : ` (profile "${profile}")`;
    throw new HoldfastError(
      "configuration-invalid",
      `The Temporal configuration${what} cannot be used: ${(error as Error).message}. ` +
        "Check TEMPORAL_CONFIG_FILE, TEMPORAL_PROFILE and the other TEMPORAL_* variables, or specify the server " +
        "with an address and a namespace.",
      { cause: error },
    );
  }
}
