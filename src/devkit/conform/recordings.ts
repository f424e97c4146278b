import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { check } from "../../schema/check.ts";

/** Normalises a header: joins repeated values, and drops values that are not texts. */
const Headers = z.record(z.string(), z.unknown()).transform((headers) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const text = Array.isArray(value) ? value.join(", ") : value;
      return typeof text === "string" ? [[name.toLowerCase(), text]] : [];
    }),
  ),
);

/**
 * One recorded reply of a vendor, as `index.json` lists it. Other fields are ignored, and optional fields with an
 * unexpected type count as absent.
 */
export const Recording = z.object({
  id: z.string(),
  /** The host, for a `uri` that is only a path. */
  host: z.string().catch("localhost"),
  uri: z.string(),
  status: z.number().int().min(200).max(599).catch(200),
  /** The content type. */
  ct: z.string().catch(""),
  kind: z.string().catch(""),
  /** The file's path within the folder. */
  file: z.string().catch(""),
  /** Further recorded headers of the reply; names in lower case. */
  headers: Headers.catch({}),
});
export type Recording = z.infer<typeof Recording>;

/** Thrown for a folder that is not a folder of recordings. */
export class RecordingsError extends Error {
  override readonly name = "RecordingsError";
}

export async function readRecordings(folder: string): Promise<readonly Recording[]> {
  const file = join(folder, "index.json");
  let json: unknown;
  try {
    json = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RecordingsError(`${file} cannot be read as a list of recordings: ${reason}`, { cause: error });
  }
  const checked = check(z.array(Recording), json, "recordings");
  if (checked.ok) return checked.value;
  throw new RecordingsError(`${file} is not a list of recordings:\n${checked.problems.join("\n")}`);
}

export async function readBytes(folder: string, { file }: Recording): Promise<Buffer> {
  try {
    return await readFile(join(folder, file));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RecordingsError(`the file of a recording cannot be read: ${reason}`, { cause: error });
  }
}
