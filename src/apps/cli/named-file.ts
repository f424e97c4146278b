import { describeReadError, readTextFile } from "../../config/read-text.ts";
import { UsageError } from "./usage-error.ts";

/** Reads a text file that the command line names. */
export function readNamedFile(path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${describeReadError(error)}.`);
  }
}
