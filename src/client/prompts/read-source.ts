import { open } from "node:fs/promises";
import { basename } from "node:path";
import { formatSize } from "../../core/view/attachment.ts";
import { decodeBase64 } from "../../platform/media/decode-base64.ts";
import { HoldfastError } from "../holdfast-error.ts";
import type { FilePart, ImagePart } from "./prompt-part.ts";

/** The longest name of a file, in characters. */
const MAX_NAME_CHARS = 200;

/** The bytes of a part, and its name. */
export type SourceBytes = { readonly bytes: Uint8Array; readonly name: string | undefined };

/** Reads the bytes of an image or a file. A file that is too large is not read. */
export async function readSource(
  part: ImagePart | FilePart,
  what: string,
  maxBytes: number,
): Promise<SourceBytes> {
  const given = ["path", "data", "bytes"].filter(
    (key) => (part as Record<string, unknown>)[key] !== undefined,
  );
  if (given.length !== 1) {
    const found = given.length === 0 ? "none of them" : given.join(" and ");
    throw createInvalidError(what, `needs exactly one of path, data and bytes, and has ${found}`);
  }
  const name = part.name === undefined ? undefined : cleanName(part.name);
  if ("path" in part && part.path !== undefined) {
    return { bytes: await readFileBytes(part.path, what, maxBytes), name: name ?? cleanName(part.path) };
  }
  if ("bytes" in part && part.bytes !== undefined) {
    if (!(part.bytes instanceof Uint8Array)) throw createInvalidError(what, "needs bytes as a Uint8Array");
    return { bytes: checkSize(part.bytes, what, maxBytes), name };
  }
  return {
    bytes: checkSize(readBase64((part as { readonly data: string }).data, what), what, maxBytes),
    name,
  };
}

function readBase64(data: unknown, what: string): Buffer {
  const bytes = typeof data === "string" ? decodeBase64(data) : undefined;
  if (bytes !== undefined) return bytes;
  const hint = typeof data === "string" && data.startsWith("data:") ? " Remove the data: prefix." : "";
  throw createInvalidError(what, `has data that is not base64.${hint}`);
}

async function readFileBytes(path: string, what: string, maxBytes: number): Promise<Buffer> {
  try {
    const file = await open(path, "r");
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw createInvalidError(what, `cannot be read: ${path} is not a file`);
      if (stats.size > maxBytes) throw createTooLargeError(what, stats.size, maxBytes);
      return checkSize(await file.readFile(), what, maxBytes);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    throw createInvalidError(what, `cannot be read: ${(error as Error).message}`, error);
  }
}

function checkSize<Bytes extends Uint8Array>(bytes: Bytes, what: string, maxBytes: number): Bytes {
  if (bytes.length === 0) throw createInvalidError(what, "is empty");
  if (bytes.length > maxBytes) throw createTooLargeError(what, bytes.length, maxBytes);
  return bytes;
}

/** Returns the last part of a path, on one line. */
function cleanName(path: string): string | undefined {
  const name = basename(path.replaceAll("\\", "/"))
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu, " ")
    .trim();
  return name === "" ? undefined : name.slice(-MAX_NAME_CHARS);
}

export function createInvalidError(what: string, problem: string, cause?: unknown): HoldfastError {
  const message = `The ${what} ${problem}${problem.endsWith(".") ? "" : "."}`;
  return new HoldfastError("input-invalid", message, {
    problems: [message],
    ...(cause === undefined ? {} : { cause }),
  });
}

export function createTooLargeError(what: string, bytes: number, maxBytes: number): HoldfastError {
  return new HoldfastError(
    "input-too-large",
    `The ${what} has ${formatSize(bytes)}; the maximum is ${formatSize(maxBytes)}. Make it smaller, or put it into the ` +
      "agent's workspace and refer to it in the text.",
    { bytes, maxBytes },
  );
}
