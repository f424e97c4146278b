import { extractJson } from "../../../client/index.ts";
import type { Capability } from "../capabilities/capability.ts";
import { ARTIFACT_TYPES, type ArtifactType, isTextArtifact } from "./artifact-types.ts";
import { CommitMessage } from "./commit-message.ts";
import { Review } from "./review.ts";

type Values = { readonly [Type in ArtifactType]: (typeof ARTIFACT_TYPES)[Type]["_output"] };

/** What a capability has made. `Custom`: of a schema file of the capability's author. */
export type Artifact =
  | { readonly [Type in ArtifactType]: { readonly type: Type; readonly value: Values[Type] } }[ArtifactType]
  | { readonly type: "Custom"; readonly value: unknown };

/**
 * Reads the artifact of an answer. One that has no structured output although its type asks for it is a text still, and is
 * kept as one (IRIS-30).
 */
export function readArtifact(
  { output: wanted }: Pick<Capability, "output">,
  answer: { readonly output?: unknown; readonly text?: string | undefined },
): Artifact | undefined {
  const { text = "" } = answer;
  if (wanted.type === "schema") {
    if (answer.output !== undefined) return { type: "Custom", value: answer.output };
    return text === "" ? undefined : { type: "PlainText", value: { text } };
  }
  const type = wanted.name as ArtifactType;
  const parsed = ARTIFACT_TYPES[type].safeParse(answer.output);
  if (parsed.success) return { type, value: parsed.data } as Artifact;
  return text.trim() === "" ? undefined : wrapText(type, text.trim());
}

/** Whether an answer must have a structured output, and not only a text. */
export function hasSchema({ output }: Pick<Capability, "output">): boolean {
  return output.type === "schema" || !isTextArtifact(output.name);
}

/** Finds a place for a text in an artifact of this type. */
function wrapText(type: ArtifactType, text: string): Artifact {
  switch (type) {
    case "GeneratedMessage": {
      const found = extractJson(text, CommitMessage);
      return found.type === "found" ? { type, value: found.value } : { type: "PlainText", value: { text } };
    }
    case "Review": {
      const found = extractJson(text, Review);
      const value = found.type === "found" ? found.value : Review.parse({ summary: text, findings: [] });
      return { type, value };
    }
    case "MarkdownPullRequest":
    case "MarkdownChangelog":
    case "MarkdownReleaseNotes":
      return { type, value: { content: text } };
    case "SemanticBlame":
      return { type, value: { text } };
    case "PlainText":
    case "Critique":
      return { type: "PlainText", value: { text } };
  }
}
