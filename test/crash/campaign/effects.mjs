import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The file of a workspace that every execution of a tool appends to: `KEY LABEL start`, then `KEY LABEL end`. */
export const EFFECTS = "effects";
/** How long a tool works. */
export const WORK_MS = 150;

/** The same by a command in processes of its own. */
export function formatEffectCommand(label, seconds = WORK_MS / 1000) {
  const line = (what) => `echo "$HOLDFAST_CALL ${label} ${what}" >> ${EFFECTS}`;
  return `${line("start")}; echo printed by ${label}; sleep ${seconds}; ${line("end")}; echo did ${label}`;
}

export async function readEffects(workspace) {
  const text = await readFile(join(workspace, EFFECTS), "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [key, label, what] = line.split(" ");
      return { key, label, what };
    });
}
