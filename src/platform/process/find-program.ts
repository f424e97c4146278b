import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** Finds the file that a shell would run for this name. */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter((entry) => entry.startsWith("/"))) {
    const file = join(folder, name);
    try {
      await access(file, constants.X_OK);
      return file;
    } catch {
      // The next folder may contain it.
    }
  }
  return undefined;
}
