import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { checkDefinition } from "../../config/check-definition.ts";
import type { AgentDefinition, AgentDefinitionInput } from "../../schema/definition.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { INLINE_BYTES } from "./message-input.ts";

/** A definition as it is sent: inline, or, if it is long, the hash that it is stored under. */
export type PinnedDefinition = { readonly definition: AgentDefinition } | { readonly definitionHash: string };

/** Validates a definition, and reports all problems at once. */
export function validateDefinition(input: AgentDefinitionInput): AgentDefinition {
  const checked = checkDefinition(input);
  if (checked.ok) return checked.definition;
  const { problems } = checked;
  throw new HoldfastError(
    "definition-invalid",
    `The agent's definition is not valid:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`,
    { problems },
  );
}

/** The folder must exist: a worker on this host would report its absence only after the start. */
export async function checkWorkspace({ workspace }: AgentDefinition): Promise<void> {
  if (workspace === undefined) return;
  if (!isAbsolute(workspace)) {
    throw createInvalidWorkspaceError(
      workspace,
      "it is not an absolute path; every worker has its own working directory",
    );
  }
  const found = await stat(workspace).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    throw createInvalidWorkspaceError(
      workspace,
      found.code === "ENOENT" ? "the folder does not exist" : found.message,
    );
  }
  if (!found.isDirectory()) throw createInvalidWorkspaceError(workspace, "it is not a folder");
}

export async function pinDefinition(
  link: ClientLink,
  definition: AgentDefinition,
): Promise<PinnedDefinition> {
  if (Buffer.byteLength(JSON.stringify(definition), "utf8") <= INLINE_BYTES) return { definition };
  const transcript = await link.storage.openTranscript();
  return { definitionHash: await transcript.saveDefinition(definition) };
}

function createInvalidWorkspaceError(workspace: string, reason: string): HoldfastError {
  return new HoldfastError(
    "workspace-invalid",
    `The workspace ${workspace} cannot be used: ${reason}. Specify the absolute path of an existing folder.`,
    { problems: [reason] },
  );
}
