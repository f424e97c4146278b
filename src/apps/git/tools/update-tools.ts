import type { z } from "zod";
import { defineTool, type ExecutableTool } from "../../../tools/tool.ts";
import {
  type ArtifactChange,
  CommitChange,
  PullRequestChange,
  ReviewChange,
} from "../artifacts/artifact-change.ts";

/**
 * The tools by which a chat changes an artifact in place (IRIS-11). A call has no other effect than its result, which says
 * what changes: users follow it as an event, and a fork has the artifact of its own branch.
 */
export function createUpdateTools(): readonly ExecutableTool[] {
  return [
    define("commit", "update_commit", "Changes the commit message that the user sees.", CommitChange),
    define("pr", "update_pr", "Replaces the text of the pull request that the user sees.", PullRequestChange),
    define(
      "review",
      "update_review",
      "Adds, replaces or removes findings of the review that the user sees.",
      ReviewChange,
    ),
  ];
}

function define<Schema extends z.ZodObject>(
  artifact: ArtifactChange["artifact"],
  name: string,
  description: string,
  inputSchema: Schema,
): ExecutableTool {
  return defineTool({
    name,
    label: `Update ${artifact}`,
    description,
    inputSchema,
    replay: "pure",
    summarise: (change) => Object.keys(change).join(", "),
    execute: (change) => ({
      content: [{ type: "text", text: `Updated: ${Object.keys(change).join(", ")}.` }],
      details: { type: "artifact-change", artifact, change },
    }),
  });
}
