import { readFileSync } from "node:fs";
import { isObject, type JsonObject, parseJsonOrThrow } from "../../platform/text/json.ts";
import { UsageError } from "./usage-error.ts";

/** Reads a JSON object from an option's text, or from the file that the text specifies as @FILE. */
export function readJsonObject(option: string, argument: string): JsonObject {
  const text = argument.startsWith("@") ? readFileText(option, argument.slice(1)) : argument;
  const value = parseJsonOrThrow(
    text,
    (reason) => new UsageError(`${option} is not JSON: ${reason}. Give one JSON object, or @FILE with one.`),
  );
  if (isObject(value)) return value;
  throw new UsageError(`${option} takes one JSON object, such as ${option} '{"path":"notes.md"}'.`);
}

/** Reads what a command's `--metadata` specifies. */
export function readMetadata({ metadata }: { readonly metadata?: string }): JsonObject | undefined {
  return metadata === undefined ? undefined : readJsonObject("--metadata", metadata);
}

function readFileText(option: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`The file of ${option} cannot be read: ${(error as Error).message}`);
  }
}
