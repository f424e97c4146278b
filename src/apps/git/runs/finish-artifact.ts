import type { Artifact } from "../artifacts/read-artifact.ts";
import type { PinnedChange } from "../changes/pin-change.ts";
import { removeReferences } from "../evidence/remove-references.ts";
import type { CoverageReport } from "./account-for-change.ts";

/** Makes an artifact ready for readers: a review states what was examined as it is, and texts lose their references. */
export function finishArtifact(
  artifact: Artifact,
  change: PinnedChange | undefined,
  coverage: CoverageReport | undefined,
): Artifact {
  switch (artifact.type) {
    case "Review": {
      const { metadata, stats } = artifact.value;
      const source = change?.source;
      const commits = source?.type === "commits" ? { base: source.from, head: source.to } : {};
      const counts =
        coverage === undefined
          ? {}
          : {
              files_reviewed: coverage.files - countFiles(coverage),
              hunks_reviewed: coverage.read + coverage.delegated,
              is_complete: coverage.open.length === 0,
            };
      return {
        type: "Review",
        value: {
          ...artifact.value,
          metadata: { ...metadata, ...commits },
          stats: { ...stats, ...counts },
        },
      };
    }
    case "MarkdownPullRequest":
    case "MarkdownChangelog":
    case "MarkdownReleaseNotes":
      return { ...artifact, value: { content: removeReferences(artifact.value.content) } };
    default:
      return artifact;
  }
}

/** Counts the files that nobody has examined, and those that have nothing to examine. */
function countFiles({ open, skipped }: CoverageReport): number {
  const paths = [...open.map((id) => id.replace(/:\d+$/, "")), ...Object.values(skipped).flat()];
  return new Set(paths).size;
}
