import { isObject } from "../../platform/text/json.ts";
import type { Problem } from "../problem.ts";
import type { SourceFile } from "../source/source-file.ts";
import { formatPath, type Path } from "../source/source-node.ts";
import { getAt } from "./table-paths.ts";
import { isSecretField } from "./validate-file.ts";

// An agent file is trusted like a Makefile: it chooses the files that are read into a prompt, the variables whose values
// are sent, and the addresses that receive them. This check is for files from untrusted sources: such a file may refer
// only to the variables that hold vendor keys, and only if the key goes to the vendor itself.

const REFERENCE = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/;
const ADDRESSES = ["base_url", "url"];

/** Finds references to variables that an untrusted file may not use. `readTextOrFile` rejects references to files. */
export function findForbiddenReferences(source: SourceFile): readonly Problem[] {
  const describeProblem = (path: Path, message: string): Problem =>
    source.createProblem(path, { kind: "invalid-field", severity: "error", message });
  return listTexts(source.value, []).flatMap(({ path, text }) => {
    if (!isSecretField(path)) {
      if (!source.variables.has(formatPath(path))) return [];
      return [describeProblem(path, "reads an environment variable, which an untrusted file must not do")];
    }
    if (!REFERENCE.test(text)) return [];
    if (path.at(-1) === "api_key" && !hasAddress(source, path.slice(0, -1))) return [];
    return [
      describeProblem(
        path,
        "sends an environment variable to an address that the file specifies, which an untrusted file must not do",
      ),
    ];
  });
}

/** Checks whether a provider, or a table around it, specifies an address. */
function hasAddress(source: SourceFile, path: Path): boolean {
  for (let length = path.length; length > 0; length -= 1) {
    const table = getAt(source.value, path.slice(0, length));
    if (
      isObject(table) &&
      (ADDRESSES.some((key) => table[key] !== undefined) || containsAddress(table["model"]))
    ) {
      return true;
    }
  }
  return false;
}

function containsAddress(value: unknown): boolean {
  return isObject(value) && ADDRESSES.some((key) => value[key] !== undefined);
}

type Text = { readonly path: Path; readonly text: string };

function listTexts(value: unknown, path: Path): readonly Text[] {
  if (typeof value === "string") return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => listTexts(item, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => listTexts(item, [...path, key]));
}
