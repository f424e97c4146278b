import { readRedactContent } from "../../config/redact-content.ts";
import type { RunSettings } from "../../workflows/run-input.ts";
import { HoldfastError } from "../holdfast-error.ts";

/** @returns Nothing where texts are displayed, the default. Throws for an invalid value, so that it never displays texts. */
export function readRedactionFromEnvironment(
  env: NodeJS.ProcessEnv = process.env,
): Pick<RunSettings, "redactContent"> {
  try {
    return readRedactContent(env);
  } catch (error) {
    throw new HoldfastError("configuration-invalid", (error as Error).message);
  }
}
