import { getField, type JsonObject } from "../../../platform/text/json.ts";
import type { OpenApiCall } from "./open-api-call.ts";
import { isAbsent, serialisePathParameter } from "./serialise.ts";

export type FilledPath =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly message: string };

/** Fills the values into the path (OAPI-06). A value stays within its segment. */
export function fillPath({ path, parameters }: OpenApiCall, values: JsonObject): FilledPath {
  let filled = path;
  for (const parameter of parameters) {
    if (parameter.in !== "path") continue;
    const { key, name } = parameter;
    const value = getField(values, key);
    if (isAbsent(value)) return rejectPath(`missing required path param '${key}'`);
    const part =
      parameter.json === true
        ? serialisePathParameter(name, JSON.stringify(value), parameter)
        : serialisePathParameter(name, value, parameter);
    // An empty value would call another operation: for example the list instead of one item.
    if (part === "" || value === "") return rejectPath(`path param '${key}' must not be empty`);
    if (isPathTraversal(part))
      return rejectPath(
        `path param '${key}' must not contain "." or ".." as a path segment, nor control characters`,
      );
    filled = filled.replaceAll(`{${name}}`, () => part);
  }
  return { ok: true, path: filled };
}

function rejectPath(reason: string): FilledPath {
  return { ok: false, message: `Error: ${reason}` };
}

/** Servers decode once or more often, and some treat `..;x` as `..`: none of these may leave the segment. */
function isPathTraversal(part: string): boolean {
  let text = part;
  for (let round = 0; round < 5; round += 1) {
    if (text.split(/[/\\]/).some((segment) => /^\.\.?(;|$)/.test(segment))) return true;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters.
    if (/[\u0000-\u001f\u007f]/.test(text)) return true;
    try {
      text = decodeURIComponent(text);
    } catch {
      return false;
    }
  }
  return false;
}
