import { toVisibleText } from "../../git/index.ts";
import type { Made } from "./carry-out.ts";
import type { GitSite } from "./open-git.ts";

export const REVIEW_FORMATS: readonly string[] = ["text", "json"];

/** Formats a review. A result that is none, because the agent has answered with something else, is printed as JSON. */
export async function formatReview(_site: GitSite, { artifact }: Made, format: string): Promise<string> {
  if (format === "json" || artifact.type !== "Review") return JSON.stringify(artifact.value, null, 2);
  const { summary, findings } = artifact.value;
  const lines = findings.map(
    ({ severity, file, start_line, body }) => `${severity} ${file}:${start_line} ${body}`,
  );
  return toVisibleText([summary, ...lines].join("\n"));
}
