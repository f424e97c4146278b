import { getOwn, type JsonObject } from "./json.ts";
import type { OpenApiCall } from "./open-api-call.ts";
import { isAbsent, serialisePathParameter } from "./serialise.ts";

export type FilledPath =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly said: string };

/** The path with its values in place (OAPI-06). A value stays within the place that the path has for it. */
export function fillPath({ path, parameters }: OpenApiCall, values: JsonObject): FilledPath {
  let filled = path;
  for (const parameter of parameters) {
    if (parameter.in !== "path") continue;
    const { key, name } = parameter;
    const value = getOwn(values, key);
    if (isAbsent(value)) return rejectPath(`missing required path param '${key}'`);
    const part =
      parameter.json === true
        ? serialisePathParameter(name, JSON.stringify(value), parameter)
        : serialisePathParameter(name, value, parameter);
    // Without it another operation would be called: the one of all instead of the one of this.
    if (part === "" || value === "") return rejectPath(`path param '${key}' must not be empty`);
    if (isPathTraversal(part))
      return rejectPath(
        `path param '${key}' must not hold "." or ".." as a part of a path, nor control characters`,
      );
    filled = filled.replaceAll(`{${name}}`, () => part);
  }
  return { ok: true, path: filled };
}

function rejectPath(reason: string): FilledPath {
  return { ok: false, said: `Error: ${reason}` };
}

/** Servers decode once, some of them more often, and some take `..;x` for `..`: none of it may be a step up. */
function isPathTraversal(part: string): boolean {
  let text = part;
  for (let round = 0; round < 5; round += 1) {
    if (text.split(/[/\\]/).some((segment) => /^\.\.?(;|$)/.test(segment))) return true;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
    if (/[\u0000-\u001f\u007f]/.test(text)) return true;
    try {
      text = decodeURIComponent(text);
    } catch {
      return false;
    }
  }
  return false;
}
