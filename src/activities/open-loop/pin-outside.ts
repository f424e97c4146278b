import { Context } from "@temporalio/activity";
import { namesIn } from "../../models/secrets.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { PinnedOutside } from "../../schema/outside.ts";
import { OutsideError } from "../../tools/sources/source.ts";
import type { Pinning } from "../../tools/sources/sources.ts";
import type { Dependencies } from "../dependencies.ts";
import { DefinitionError } from "../step/failure.ts";
import { offeredTools } from "./opening.ts";

/** What the definition has of its sources outside now, kept in it: later steps ask for it by the hash of the result. */
export async function pinOutside(
  definition: AgentDefinition,
  before: PinnedOutside | undefined,
  { tools, secrets, defaultWorkspace, log }: Dependencies,
): Promise<Pinning> {
  const { pinned: _, ...asked } = definition;
  await secrets.prepare?.(namesIn([JSON.stringify({ ...asked, systemPrompt: "" })]));
  const own = offeredTools(asked, tools).tools.map(({ name }) => name);
  try {
    return await tools.outside.pin(asked, own, before, {
      secrets,
      workspace: asked.workspace ?? defaultWorkspace,
      signal: Context.current().cancellationSignal,
      log,
    });
  } catch (error) {
    if (error instanceof OutsideError) throw new DefinitionError(error.message);
    throw error;
  }
}

/** What the newest loop of a session was pinned to. */
export async function pinnedBefore(
  session: string,
  { transcript, definitions }: Pick<Dependencies, "transcript" | "definitions">,
): Promise<PinnedOutside | undefined> {
  const hash = (await transcript.session(session))?.definitionHash;
  if (hash === undefined) return undefined;
  return (await definitions.byHash(hash)).pinned;
}
