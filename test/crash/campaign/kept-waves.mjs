import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Reads what `writeKeptWaves` has written: the waves that were played, and the plan that they are from.
 *
 * @param asked - The seed and the number of concurrent runs that the file must have, each undefined for any.
 * @param plan - The plan of a file that does not exist yet.
 */
export async function readKeptWaves(file, asked, plan) {
  const text = await readFile(file, "utf8").catch((error) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return { plan, waves: [] };
  const kept = parseKept(file, text);
  for (const [name, value] of Object.entries(asked))
    if (value !== undefined && kept.plan[name] !== value)
      throw new Error(
        `${file} has waves of --${name} ${kept.plan[name]}, not of --${name} ${value}. Omit the option, or name another file.`,
      );
  return kept;
}

function parseKept(file, text) {
  try {
    const { plan, waves } = JSON.parse(text);
    if (typeof plan.seed === "number" && typeof plan.runs === "number" && Array.isArray(waves))
      return { plan, waves };
  } catch {
    // The error below covers it.
  }
  throw new Error(`${file} is not a file of a crash campaign. Name another file.`);
}

/** Replaces the file as a whole: whatever ends this process, the file has all waves of before, or these. */
export async function writeKeptWaves(file, kept) {
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.new`;
  const handle = await open(temporary, "w");
  try {
    await handle.writeFile(`${JSON.stringify(kept)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}
