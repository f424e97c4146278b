import { Context } from "@temporalio/activity";
import { listReferences } from "../../models/secrets.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { PinnedSources } from "../../schema/tool-source.ts";
import { ToolSourceError } from "../../tools/sources/tool-source.ts";
import type { PinResult } from "../../tools/sources/tool-sources.ts";
import type { Dependencies } from "../dependencies.ts";
import { DefinitionError } from "../step/failure.ts";
import { resolveOfferedTools } from "./loop-opening.ts";

/**
 * Adds what the definition's tool sources currently offer to the definition. Later steps refer to it by the hash of
 * the result.
 */
export async function pinSources(
  definition: AgentDefinition,
  before: PinnedSources | undefined,
  { tools, secrets, defaultWorkspace, log }: Dependencies,
): Promise<PinResult> {
  const { pinned: _, ...asked } = definition;
  await secrets.prepare?.(listReferences([JSON.stringify({ ...asked, systemPrompt: "" })]));
  const own = resolveOfferedTools(asked, tools).tools.map(({ name }) => name);
  try {
    return await tools.sources.pin(asked, own, before, {
      getSecret: secrets,
      workspace: asked.workspace ?? defaultWorkspace,
      signal: Context.current().cancellationSignal,
      log,
    });
  } catch (error) {
    if (error instanceof ToolSourceError) throw new DefinitionError(error.message);
    throw error;
  }
}

/** Reads what the newest loop of a session was pinned to. */
export async function readPreviousPins(
  session: string,
  { transcript, definitions }: Pick<Dependencies, "transcript" | "definitions">,
): Promise<PinnedSources | undefined> {
  const hash = (await transcript.readSession(session))?.definitionHash;
  if (hash === undefined) return undefined;
  return (await definitions.read(hash)).pinned;
}
