import { matchNameGlob } from "../../../platform/text/glob.ts";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import type { LoadedApi } from "./load-api.ts";

/** Vendors reject long lists of tools, and models choose poorly from them. */
const MANY_TOOLS = 128;
/** The limit for one reason; the rest is counted. */
const MAX_NAMED_OPERATIONS = 5;

/** Returns warnings for the author, one sentence each. */
export function collectWarnings(
  settings: OpenApiSettings,
  { tools, skipped, notes }: Pick<LoadedApi, "tools" | "skipped" | "notes">,
): readonly string[] {
  const { name } = settings;
  const reasons = new Map<string, string[]>();
  for (const { method, path, id, reason, isSelected } of skipped) {
    if (isSelected === true) continue;
    const operation = id ?? `${method.toUpperCase()} ${path}`;
    reasons.set(reason, [...(reasons.get(reason) ?? []), operation]);
  }
  const remarks = new Map<string, string[]>();
  for (const { remote, note } of notes) remarks.set(note, [...(remarks.get(note) ?? []), remote]);
  return [
    ...[...reasons].map(
      ([reason, operations]) => `openapi ${name}: skipped ${formatList(operations)}: ${reason}`,
    ),
    ...[...remarks].map(([note, operations]) => `openapi ${name}: ${formatList(operations)}: ${note}`),
    ...describeUnknownNames(settings, { tools, skipped }),
    ...(tools.length === 0 ? [`openapi ${name}: none of its operations is a tool`] : []),
    ...(tools.length > MANY_TOOLS
      ? [
          `openapi ${name}: ${tools.length} tools; many vendors reject more than ${MANY_TOOLS}: select some by ids, tags or path`,
        ]
      : []),
  ];
}

/** Describes names in the definition that the document does not contain. */
function describeUnknownNames(
  { name, operations, replay, confirm }: OpenApiSettings,
  { tools, skipped }: Pick<LoadedApi, "tools" | "skipped">,
): readonly string[] {
  const ids = [...tools.map(({ remote }) => remote), ...skipped.flatMap(({ id }) => id ?? [])];
  const mentioned = [
    ...(operations?.ids ?? []).map((id) => ["operations.ids", id, ids.includes(id)] as const),
    ...Object.keys(replay).map((glob) => ["replay", glob, isKnown(glob, ids)] as const),
    ...confirm.map((glob) => ["confirm", glob, isKnown(glob, ids)] as const),
  ];
  return mentioned
    .filter(([, , known]) => !known)
    .map(
      ([field, pattern]) =>
        `openapi ${name}: ${field} names "${pattern}", which matches no operation of the document`,
    );
}

function isKnown(glob: string, ids: readonly string[]): boolean {
  return ids.some((id) => matchNameGlob(glob, id));
}

function formatList(operations: readonly string[]): string {
  const named = operations.slice(0, MAX_NAMED_OPERATIONS).join(", ");
  const more = operations.length - MAX_NAMED_OPERATIONS;
  return more > 0 ? `${named} and ${more} more` : named;
}
