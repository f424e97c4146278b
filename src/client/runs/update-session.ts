import type { UpdateDefinition } from "@temporalio/common";
import {
  compareDefinitions,
  findMissingTools,
  listToolNames,
} from "../../core/machine/definition-changes.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { AgentDefinition, type AgentDefinitionInput } from "../../schema/definition.ts";
import type { DefinitionChange } from "../../schema/definition-change.ts";
import { findCostLimitProblem } from "../../schema/prices.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import {
  type DefinitionUpdateRequest,
  type DefinitionUpdateResult,
  updateDefinitionUpdate,
} from "../../workflows/messages.ts";
import { hasRunEnded, toHoldfastError } from "../client-errors.ts";
import { ANSWER_TIMEOUT_MS, type ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { getSessionRecord } from "./get-session-record.ts";
import { hashDefinition } from "./hash-definition.ts";
import { checkWorkspace, validateDefinition } from "./pin-definition.ts";
import { readSessionStatus, type SessionStatus } from "./session-status.ts";

/** How a definition is updated. */
export type UpdateOptions = {
  /** Reports the changes without applying them. */
  readonly dryRun?: boolean;
};

/** What an update changes, and when. */
export type UpdateResult = {
  readonly session: string;
  /** The hash of the current definition; absent while the first loop opens. */
  readonly from?: string;
  /** The hash of the new definition. */
  readonly to: string;
  /** The fields that differ. */
  readonly changes: readonly DefinitionChange[];
  /** What the change may break, as sentences. */
  readonly warnings: readonly string[];
  /**
   * `next-turn`: a loop runs, and takes the definition before its next turn; its record contains the outcome. `now`: the run
   * waited for a prompt, and was updated. `next-run`: the session is idle. `unchanged`: both definitions are equal.
   */
  readonly takesEffect: "next-turn" | "now" | "next-run" | "unchanged";
  /** Whether the changes were only reported. */
  readonly dryRun: boolean;
};

/** Changes the definition of a session; reports all reasons against it that can be known before. */
export async function updateSession(
  link: ClientLink,
  session: string,
  input: AgentDefinitionInput,
  { dryRun = false }: UpdateOptions = {},
): Promise<UpdateResult> {
  const definitionInput = validateDefinition(input);
  await checkWorkspace(definitionInput);
  const status = await readSessionStatus(link, session);
  try {
    const transcript = await link.storage.openTranscript();
    const from = status.definitionHash ?? (await transcript.readSession(session))?.definitionHash;
    const before = from === undefined ? undefined : await readStoredDefinition(transcript, from);
    const definition = keepWorkspace(definitionInput, before);
    const { changes, warnings, rejections } =
      before === undefined
        ? { changes: [], warnings: [], rejections: [] }
        : compareDefinitions(before, definition);
    const tools = listToolNames(definition);
    const reasons = [
      ...rejections,
      ...findMissingTools(status.approvals ?? [], tools),
      ...findUnpricedModels(status, definition),
    ];
    if (reasons.length > 0) throw createUpdateRejectedError(session, reasons);
    const to = await storeDefinition(transcript, definition, dryRun);
    const request = { session, ...omitUndefined({ from }), to, changes, warnings, dryRun };
    const isSame = before !== undefined && changes.length === 0 && status.pendingDefinitionHash === undefined;
    if (isSame) return { ...request, takesEffect: "unchanged" };
    if (dryRun) return { ...request, takesEffect: getTakesEffect(status) };
    const applied = status.open
      ? await sendDefinitionUpdate(link, session, { definitionHash: to, tools })
      : undefined;
    if (applied !== undefined) return { ...request, takesEffect: applied.takesEffect };
    await getSessionRecord(link, session);
    const { name: agentName, model } = definition;
    await transcript.setDefinition(session, { definitionHash: to, agentName, model: model.id });
    return { ...request, takesEffect: "next-run" };
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

/** An unknown price would defeat a cost limit that applies to the loop or to a tree that contains it. */
function findUnpricedModels({ budget }: SessionStatus, definition: AgentDefinition): readonly string[] {
  const limit = budget?.usd.limit ?? null;
  const problem = limit === null ? undefined : findCostLimitProblem([definition]);
  return problem === undefined ? [] : [problem];
}

/** Retains the workspace that the command line supplied, if the agent's file specifies none. */
function keepWorkspace(definition: AgentDefinition, before: AgentDefinition | undefined): AgentDefinition {
  const { workspace = before?.workspace, ...rest } = definition;
  return workspace === undefined ? rest : { ...rest, workspace };
}

/** Reads a definition that an older release may have stored, with today's defaults. */
async function readStoredDefinition(
  transcript: Transcript,
  hash: string,
): Promise<AgentDefinition | undefined> {
  const parsed = AgentDefinition.safeParse(await transcript.readDefinition(hash));
  return parsed.success ? parsed.data : undefined;
}

function storeDefinition(
  transcript: Transcript,
  definition: AgentDefinition,
  dryRun: boolean,
): Promise<string> {
  return dryRun ? Promise.resolve(hashDefinition(definition)) : transcript.saveDefinition(definition);
}

/** Returns nothing if no run is open any more. */
async function sendDefinitionUpdate(
  link: ClientLink,
  session: string,
  input: DefinitionUpdateRequest,
): Promise<DefinitionUpdateResult | undefined> {
  const update: UpdateDefinition<DefinitionUpdateResult, [DefinitionUpdateRequest]> = updateDefinitionUpdate;
  try {
    return await link.connection.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, () =>
      link.client.workflow.getHandle(session).executeUpdate(update, { args: [input] }),
    );
  } catch (error) {
    if (hasRunEnded(error)) return undefined;
    throw error;
  }
}

function getTakesEffect({ open, status }: SessionStatus): UpdateResult["takesEffect"] {
  if (!open) return "next-run";
  return status === "waiting" ? "now" : "next-turn";
}

function createUpdateRejectedError(session: string, reasons: readonly string[]): HoldfastError {
  return new HoldfastError(
    "update-rejected",
    `Session ${session} retains its definition:\n${reasons.map((reason) => `  - ${reason}`).join("\n")}`,
    { session, problems: reasons },
  );
}
