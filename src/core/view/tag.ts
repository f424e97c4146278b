import type { RevertCategory } from "../../schema/loop-event.ts";
import type { Entry } from "../../schema/record.ts";
import { formatLabel } from "./labels.ts";

// What a model leaves behind when it goes back to an earlier entry (PHI-02): an entry of the machine, right after that
// one. Lessons and findings fade; outcomes and checkpoints stay.

const NAMES = {
  failure: "lesson",
  tangent: "finding",
  completion: "outcome",
  "step-summary": "checkpoint",
} satisfies Record<RevertCategory, string>;

export type FadingCategory = "failure" | "tangent";

export type LiveTag = {
  readonly category: FadingCategory;
  readonly position: number;
  /** How many turns the run had when the tag was made. */
  readonly createdAtTurn: number;
};

/** By category: tags before this position are no longer visible. */
export type FadedBefore = { readonly [Category in FadingCategory]?: number };

export function isFading(category: RevertCategory): category is FadingCategory {
  return category === "failure" || category === "tangent";
}

/** Formats a tag. Without a summary the text says that there is none; Holdfast does not ask a model for one. */
export function formatTag(category: RevertCategory, target: number, summary: string | undefined): string {
  return `[Back at ${formatLabel(target)} · ${NAMES[category]}] ${summary ?? "The messages after it were abandoned without a summary."}`;
}

const SHAPE = /^\[Back at n(\d+) · (lesson|finding|outcome|checkpoint)\]/;

/** Reads the tag from an entry's text; nothing for other entries. Only the machine writes entries with its origin. */
export function parseTag({
  origin,
  message,
}: Entry): { category: RevertCategory; target: number } | undefined {
  if (origin !== "machine" || message.role !== "user") return undefined;
  const [first] = message.content;
  const found = first?.type === "text" ? SHAPE.exec(first.text) : null;
  if (found === null) return undefined;
  const category = (Object.keys(NAMES) as RevertCategory[]).find((one) => NAMES[one] === found[2]);
  return category === undefined ? undefined : { category, target: Number(found[1]) };
}

export function isFaded(
  entry: Entry,
  faded: { readonly [Category in RevertCategory]?: number } | undefined,
): boolean {
  if (faded === undefined) return false;
  const tag = parseTag(entry);
  return tag !== undefined && entry.position < (faded[tag.category] ?? 0);
}

/** Returns the fading tag that going back leaves at this position, or nothing when its category does not fade. */
export function buildFadingTag(
  category: RevertCategory,
  position: number,
): Omit<LiveTag, "createdAtTurn"> | undefined {
  return isFading(category) ? { category, position } : undefined;
}
