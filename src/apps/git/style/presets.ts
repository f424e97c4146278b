import { fileURLToPath } from "node:url";
import { z } from "zod";
import { formatProblem, readCheckedFile } from "../../../client/index.ts";

const FILE = fileURLToPath(new URL("./presets.toml", import.meta.url));

/** A style that a user selects by name. */
const Preset = z.strictObject({
  emoji: z.string().min(1),
  description: z.string().min(1),
  instructions: z.string().min(1),
});

const StyleFile = z.strictObject({
  presets: z.record(z.string(), Preset),
  gitmoji: z.record(z.string(), z.string()),
});

/** The presets by name, and the meaning of each gitmoji. */
export type Styles = z.infer<typeof StyleFile>;

/** Reads the styles of the package. */
export function loadStyles(): Styles {
  const read = readCheckedFile(FILE, { schema: StyleFile });
  if (!read.ok) throw new Error(read.problems.map(formatProblem).join("\n"));
  return read.value;
}
