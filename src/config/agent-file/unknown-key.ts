import { findNearestName } from "../../platform/text/nearest-name.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Problem } from "../problem.ts";
import type { SourceFile } from "../source/source-file.ts";
import type { Path } from "../source/source-node.ts";
import { findSchemaAt, listKeys } from "./json-schema.ts";
import { findKeyPlaces, listAllKeys } from "./key-places.ts";
import { getAt } from "./table-paths.ts";

/** Sections in which an unknown key is an error: ignoring it could give an agent more rights than intended. */
const STRICT_SECTIONS = [
  "permissions",
  "approvals",
  "callbacks",
  "hooks",
  "execution",
  "delegation",
  "mode",
  "mcp",
  "openapi",
  "rules",
  "sandbox",
];

const PERMISSION_RULES =
  "write each rule as a `[[permissions.rules]]` table with its conditions, such as `tool`, and its `outcome`";

/** Keys of other programs' files, at the top level and in `[[mcp]]`, with what to write instead. */
const FOREIGN_KEYS: Readonly<Record<string, string>> = {
  mcpServers:
    "servers are `[[mcp]]` tables; `holdfast mcp import FILE --into AGENT_FILE` converts such a file",
  limits: "limits belong in `[execution]`",
  instructions: "the text belongs in `[agent]`, as `system_prompt`",
  system: "the text belongs in `[agent]`, as `system_prompt`",
  prompt: "the text belongs in `[agent]`, as `system_prompt`",
  "agent.tools": "tools are listed in `[tools]`, as `enabled`",
  "permissions.allow": PERMISSION_RULES,
  "permissions.ask": PERMISSION_RULES,
  "permissions.deny": PERMISSION_RULES,
  "mcp.type": "remove it: a server with `command` is a program, one with `url` uses HTTP",
  "mcp.transport": "remove it: a server with `command` is a program, one with `url` uses HTTP",
  "mcp.disabled": "remove the server instead, or put `#` before its lines",
};

/** Creates the problem of a key that its table does not have: it says where the key belongs, or which key was meant. */
export function createUnknownKeyProblem(source: SourceFile, path: Path, key: string): Problem {
  const table = getAt(source.value, path) as Record<string, unknown>;
  const known = listKeys(findSchemaAt(path)).filter((name) => !Object.hasOwn(table, name));
  const foreign = FOREIGN_KEYS[[...path.filter((step) => typeof step === "string"), key].join(".")];
  const places = findKeyPlaces(key, table[key], path);
  const longer = known.find((name) => name.startsWith(`${key}_`));
  const nearest = longer ?? findNearestName(key, known);
  const isStrict = path.some((step) => STRICT_SECTIONS.includes(String(step)));
  const suggestion =
    foreign ??
    (longer === undefined ? suggestPlace(key, places, nearest) : undefined) ??
    (nearest === undefined ? undefined : `did you mean "${nearest}"?`) ??
    suggestKeyElsewhere(key, table[key], path) ??
    `known here: ${known.join(", ")}`;
  return source.createProblem([...path, key], {
    kind: "unknown-key",
    severity: isStrict ? "error" : "warning",
    path: "key",
    expected: known.join(", "),
    ...omitUndefined({ nearest }),
    message: `unknown key${isStrict ? "" : ", not used"}; ${suggestion}`,
  });
}

function suggestPlace(
  key: string,
  places: readonly string[],
  nearest: string | undefined,
): string | undefined {
  if (places.length === 0) return undefined;
  const alternative = nearest === undefined ? "" : `; or did you mean "${nearest}"?`;
  return `\`${key}\` belongs ${formatPlaces(places)}${alternative}`;
}

/** Suggests a key of another table, which was probably meant. */
function suggestKeyElsewhere(key: string, value: unknown, path: Path): string | undefined {
  const other = findNearestName(key, listAllKeys());
  const places = other === undefined ? [] : findKeyPlaces(other, value, path);
  if (places.length === 0) return undefined;
  return `did you mean "${other}", which belongs ${formatPlaces(places)}?`;
}

function formatPlaces(places: readonly string[]): string {
  return places.length < 2 ? places.join("") : `${places.slice(0, -1).join(", ")} or ${places.at(-1)}`;
}
