import type { RunSettings } from "../../workflows/run-input.ts";
import { HoldfastError } from "../holdfast-error.ts";

/** Says whether what Temporal shows of runs that are started here holds words. */
const REDACT_CONTENT_VARIABLE = "HOLDFAST_SHOW_WORDS";

/** @returns Nothing where they are shown, as they are unless said. A word that cannot be read must not show them. */
export function readRedactionFromEnvironment(
  env: NodeJS.ProcessEnv = process.env,
): Pick<RunSettings, "words"> {
  const setting = (env[REDACT_CONTENT_VARIABLE] ?? "").trim();
  if (setting === "" || setting === "on") return {};
  if (setting === "off") return { words: "none" };
  throw new HoldfastError(
    "configuration-invalid",
    `${REDACT_CONTENT_VARIABLE} says "${setting}"; it takes on and off.`,
  );
}
