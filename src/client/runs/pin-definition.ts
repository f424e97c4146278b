import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { checkDefinition } from "../../config/check-definition.ts";
import type { AgentDefinition, AgentDefinitionInput } from "../../schema/definition.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { INLINE_BYTES } from "./message-input.ts";

/** A definition as it travels: itself, or the hash that it is stored under when it is long. */
export type PinnedDefinition = { readonly definition: AgentDefinition } | { readonly definitionHash: string };

/** Everything that is wrong with a definition is said at once. */
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

/** The folder must be there: a worker on this host would find out only after the start. */
export async function checkWorkspace({ workspace }: AgentDefinition): Promise<void> {
  if (workspace === undefined) return;
  if (!isAbsolute(workspace)) {
    throw createInvalidWorkspaceError(workspace, "it is not absolute; workers run in folders of their own");
  }
  const found = await stat(workspace).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    throw createInvalidWorkspaceError(
      workspace,
      found.code === "ENOENT" ? "there is no such folder" : found.message,
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
    `The workspace ${workspace} cannot be used: ${reason}. Name an existing folder by its full path.`,
    { problems: [reason] },
  );
}
