import { matchNameGlob } from "../../../platform/text/glob.ts";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import type { Loaded } from "./load.ts";

/** Vendors refuse long lists of tools, and models lose their way in them. */
const MANY_TOOLS = 128;
/** Of one reason; the rest is counted. */
const MAX_NAMED = 5;

/** What an author should know, a sentence each. */
export function warningsOf(
  settings: OpenApiSettings,
  { tools, leftOut, notes }: Pick<Loaded, "tools" | "leftOut" | "notes">,
): readonly string[] {
  const { name } = settings;
  const reasons = new Map<string, string[]>();
  for (const { method, path, id, why, chosen } of leftOut) {
    if (chosen === true) continue;
    const operation = id ?? `${method.toUpperCase()} ${path}`;
    reasons.set(why, [...(reasons.get(why) ?? []), operation]);
  }
  const remarks = new Map<string, string[]>();
  for (const { remote, note } of notes) remarks.set(note, [...(remarks.get(note) ?? []), remote]);
  return [
    ...[...reasons].map(([why, operations]) => `openapi ${name}: left out ${listed(operations)}: ${why}`),
    ...[...remarks].map(([note, operations]) => `openapi ${name}: ${listed(operations)}: ${note}`),
    ...unknownNames(settings, { tools, leftOut }),
    ...(tools.length === 0 ? [`openapi ${name}: none of its operations is a tool`] : []),
    ...(tools.length > MANY_TOOLS
      ? [
          `openapi ${name}: ${tools.length} tools; many vendors refuse more than ${MANY_TOOLS}: choose some by ids, tags or path`,
        ]
      : []),
  ];
}

/** What an author speaks of and the document does not have. */
function unknownNames(
  { name, operations, replay, confirm }: OpenApiSettings,
  { tools, leftOut }: Pick<Loaded, "tools" | "leftOut">,
): readonly string[] {
  const ids = [...tools.map(({ remote }) => remote), ...leftOut.flatMap(({ id }) => id ?? [])];
  const said = [
    ...(operations?.ids ?? []).map((id) => ["operations.ids", id, ids.includes(id)] as const),
    ...Object.keys(replay).map((glob) => ["replay", glob, isKnown(glob, ids)] as const),
    ...confirm.map((glob) => ["confirm", glob, isKnown(glob, ids)] as const),
  ];
  return said
    .filter(([, , known]) => !known)
    .map(
      ([field, word]) => `openapi ${name}: ${field} names "${word}", and the document has no such operation`,
    );
}

function isKnown(glob: string, ids: readonly string[]): boolean {
  return ids.some((id) => matchNameGlob(glob, id));
}

function listed(operations: readonly string[]): string {
  const named = operations.slice(0, MAX_NAMED).join(", ");
  const more = operations.length - MAX_NAMED;
  return more > 0 ? `${named} and ${more} more` : named;
}
