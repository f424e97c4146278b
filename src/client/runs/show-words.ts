import type { RunSettings } from "../../workflows/input.ts";
import { HoldfastError } from "../error.ts";

/** Says whether what Temporal shows of runs that are started here holds words. */
const SHOW_WORDS = "HOLDFAST_SHOW_WORDS";

/** @returns Nothing where they are shown, as they are unless said. A word that cannot be read must not show them. */
export function wordsFromEnvironment(env: NodeJS.ProcessEnv = process.env): Pick<RunSettings, "words"> {
  const said = (env[SHOW_WORDS] ?? "").trim();
  if (said === "" || said === "on") return {};
  if (said === "off") return { words: "none" };
  throw new HoldfastError("configuration-invalid", `${SHOW_WORDS} says "${said}"; it takes on and off.`);
}
