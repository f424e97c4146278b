import type { ZodType } from "zod";
import { zodOutput } from "../../../client/index.ts";
import type { OutputFormat, OutputRecovery } from "../../../schema/index.ts";
import { Changelog } from "./changelog.ts";
import { CommitMessage } from "./commit-message.ts";
import { Critique } from "./critique.ts";
import { PlainText } from "./plain-text.ts";
import { PullRequest } from "./pull-request.ts";
import { ReleaseNotes } from "./release-notes.ts";
import { Review } from "./review.ts";
import { SemanticBlame } from "./semantic-blame.ts";

/** The output types that a capability can name (IRIS-05). */
export const ARTIFACT_TYPES = {
  GeneratedMessage: CommitMessage,
  Review,
  MarkdownPullRequest: PullRequest,
  MarkdownChangelog: Changelog,
  MarkdownReleaseNotes: ReleaseNotes,
  PlainText,
  SemanticBlame,
  Critique,
} as const satisfies Record<string, ZodType>;

export type ArtifactType = keyof typeof ARTIFACT_TYPES;

/** What a model writes as plain text, without a schema: the artifact has one field, `text`. */
const TEXT_TYPES: readonly string[] = ["PlainText", "SemanticBlame"] satisfies readonly ArtifactType[];

export function isTextArtifact(type: string): boolean {
  return TEXT_TYPES.includes(type);
}

/** Returns the output of a definition that writes this artifact, with its JSON Schema. */
export function buildArtifactOutput(
  type: ArtifactType,
  recovery?: OutputRecovery,
): Extract<OutputFormat, { type: "json-schema" }> {
  const output = zodOutput(ARTIFACT_TYPES[type], {
    name: type,
    ...(recovery === undefined ? {} : { recovery }),
  });
  if (output.type !== "json-schema") throw new TypeError(`${type} has no JSON Schema`);
  return output;
}
