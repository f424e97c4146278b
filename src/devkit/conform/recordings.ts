import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { check } from "../../schema/check.ts";

/** A header that was recorded several times counts once, joined; what is no text is none. */
const Headers = z.record(z.string(), z.unknown()).transform((headers) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const text = Array.isArray(value) ? value.join(", ") : value;
      return typeof text === "string" ? [[name.toLowerCase(), text]] : [];
    }),
  ),
);

/**
 * One recorded reply of a vendor, as `index.json` lists it. Other fields are of no use here, and what is said in another
 * way than expected counts as not said.
 */
export const Recording = z.object({
  id: z.string(),
  /** Beside its name, for a `uri` that is only a path. */
  host: z.string().catch("localhost"),
  uri: z.string(),
  status: z.number().int().min(200).max(599).catch(200),
  /** Content type. */
  ct: z.string().catch(""),
  kind: z.string().catch(""),
  /** Within the folder. */
  file: z.string().catch(""),
  /** More headers of the reply, where they were recorded; names in lower case. */
  headers: Headers.catch({}),
});
export type Recording = z.infer<typeof Recording>;

/** A folder cannot be used as one of recordings. */
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
  throw new RecordingsError(`${file} is no list of recordings:\n${checked.problems.join("\n")}`);
}

export async function readBytes(folder: string, { file }: Recording): Promise<Buffer> {
  try {
    return await readFile(join(folder, file));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RecordingsError(`the file of a recording cannot be read: ${reason}`, { cause: error });
  }
}
