import { z } from "zod";

// What a chat changes in an artifact that is already there. A change names only what becomes different, so that two changes
// of different fields do not undo each other.

/** The change of a commit message. */
export const CommitChange = z.object({
  emoji: z.string().max(20).nullable().optional().describe("The emoji, or null for none"),
  title: z.string().min(1).max(200).optional().describe("The first line"),
  message: z.string().max(20_000).optional().describe("The text after the first line"),
  completion_message: z.string().max(500).optional().describe("What the user reads after the commit"),
});
export type CommitChange = z.infer<typeof CommitChange>;

/** The change of a pull request's text. */
export const PullRequestChange = z.object({
  content: z.string().min(1).max(60_000).describe("The whole text, as Markdown"),
});
export type PullRequestChange = z.infer<typeof PullRequestChange>;

/** A finding of a review, as a chat writes it. */

const ChangedFinding = z.object({
  id: z.string().min(1).max(100).describe("The id of the finding to replace, or a new one"),
  severity: z.enum(["critical", "high", "medium", "low", "info"]),
  confidence: z.number().min(0).max(100).describe("In percent"),
  file: z.string().min(1),
  start_line: z.number().int().min(1),
  end_line: z.number().int().min(1),
  category: z.string().min(1).max(100),
  body: z.string().min(1).max(10_000),
  suggested_fix: z.string().max(10_000).optional(),
  evidence: z
    .array(z.string().max(500))
    .max(50)
    .default([])
    .describe("References of the form commit:path:lines"),
});

/** The change of a review. */
export const ReviewChange = z.object({
  summary: z.string().min(1).max(20_000).optional(),
  findings: z
    .array(ChangedFinding)
    .max(100)
    .default([])
    .describe("Findings to add, or to replace by their ids"),
  removed: z.array(z.string()).max(100).default([]).describe("The ids of findings to remove"),
});
export type ReviewChange = z.infer<typeof ReviewChange>;

/**
 * The `details` of an update tool's result: a page that shows the artifact applies them as their `ToolExecutionEnd` events
 * arrive, with `applyArtifactChange`.
 */
export type ArtifactChange =
  | { readonly type: "artifact-change"; readonly artifact: "commit"; readonly change: CommitChange }
  | { readonly type: "artifact-change"; readonly artifact: "pr"; readonly change: PullRequestChange }
  | { readonly type: "artifact-change"; readonly artifact: "review"; readonly change: ReviewChange };

type ReviewFields = { readonly findings?: readonly { readonly id: string }[] };

/** Returns the artifact after a change. Replaced findings keep their place, and new ones follow the others. */
export function applyArtifactChange<Artifact extends object>(
  artifact: Artifact,
  changed: ArtifactChange,
): Artifact {
  if (changed.artifact !== "review") return { ...artifact, ...changed.change };
  const { summary, findings, removed } = changed.change;
  const before = (artifact as ReviewFields).findings ?? [];
  const byId = new Map(findings.map((finding) => [finding.id, finding]));
  const kept = before.filter(({ id }) => !removed.includes(id)).map((one) => byId.get(one.id) ?? one);
  const known = new Set(before.map(({ id }) => id));
  const added = [...byId.values()].filter(({ id }) => !known.has(id) && !removed.includes(id));
  return { ...artifact, ...(summary === undefined ? {} : { summary }), findings: [...kept, ...added] };
}
