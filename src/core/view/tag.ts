import type { Entry, RevertCategory } from "../../schema/record.ts";
import { formatLabel } from "./labels.ts";

// What a model leaves behind when it goes back to an earlier entry (PHI-02): an entry of the machine, right behind that
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
  /** Turns of the run when it was made. */
  readonly madeAt: number;
};

/** By category: tags before this position are no longer shown. */
export type FadedBefore = { readonly [Category in FadingCategory]?: number };

export function isFading(category: RevertCategory): category is FadingCategory {
  return category === "failure" || category === "tangent";
}

/** The words of a tag. Without a summary it says that there is none: nobody is asked for one. */
export function formatTag(category: RevertCategory, target: number, summary: string | undefined): string {
  return `[Back at ${formatLabel(target)} · ${NAMES[category]}] ${summary ?? "What came after it was left, without a summary."}`;
}

const SHAPE = /^\[Back at n(\d+) · (lesson|finding|outcome|checkpoint)\]/;

/** What an entry says as a tag; nothing for any other. Only the machine writes with its origin. */
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

export function isFaded(entry: Entry, faded: FadedBefore | undefined): boolean {
  if (faded === undefined) return false;
  const category = parseTag(entry)?.category;
  if (category === undefined || !isFading(category)) return false;
  return entry.position < (faded[category] ?? 0);
}

/** What is left at this position by going back, where it fades. */
export function buildFadingTag(
  category: RevertCategory,
  position: number,
): Omit<LiveTag, "madeAt"> | undefined {
  return isFading(category) ? { category, position } : undefined;
}
