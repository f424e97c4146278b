import type { AgentDefinitionInput } from "../../schema/definition.ts";
import type { ModelConfig } from "../../schema/model.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { describeRun, isOpen } from "../runs/open-runs.ts";

/** Finds the model of a session; nothing if this transcript has no such session. */
export async function findSessionModels(link: ClientLink, session: string): Promise<readonly ModelConfig[]> {
  try {
    const transcript = await link.storage.openExistingTranscript();
    const record = await transcript?.readSession(session);
    const definition =
      record === undefined ? undefined : await transcript?.readDefinition(record.definitionHash);
    return definition === undefined ? [] : [definition.model];
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

/**
 * Finds the model that a prompt reaches: that of the session. If an idle session is to continue with another agent, its start
 * checks the prompt.
 */
export async function findPromptedModels(
  link: ClientLink,
  session: string,
  agent: AgentDefinitionInput | undefined,
): Promise<readonly ModelConfig[]> {
  if (agent !== undefined) {
    const run = await describeRun(link, session);
    if (run === undefined || !isOpen(run)) return [];
  }
  return await findSessionModels(link, session);
}
