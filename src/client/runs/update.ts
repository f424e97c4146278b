import type { UpdateDefinition } from "@temporalio/common";
import { definitionChanges, missingTools, toolNamesOf } from "../../core/machine/definition-changes.ts";
import { AgentDefinition, type AgentDefinitionInput } from "../../schema/definition.ts";
import { costLimitProblem } from "../../schema/prices.ts";
import type { DefinitionChange } from "../../schema/record.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import {
  type DefinitionTaken,
  type DefinitionWords,
  updateDefinitionUpdate,
} from "../../workflows/messages.ts";
import { ANSWER_TIMEOUT_MS, type Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { endedMeanwhile, translated } from "../failures.ts";
import { definitionHash } from "./definition-hash.ts";
import { knownSession } from "./known-session.ts";
import { checkWorkspace, validDefinition } from "./pinned-definition.ts";
import { type SessionStatus, sessionStatus } from "./status.ts";

export type UpdateOptions = {
  /** Says what it would change, and changes nothing. */
  readonly dryRun?: boolean;
};

export type Updated = {
  readonly session: string;
  /** Hash of the definition that it runs with; absent while its first loop opens. */
  readonly from?: string;
  readonly to: string;
  readonly changes: readonly DefinitionChange[];
  readonly warnings: readonly string[];
  /**
   * `next-turn`: a loop runs, and is moved before its next turn; its record says what came of it. `now`: the run waits
   * for a prompt, and was moved. `next-run`: the session is at rest. `unchanged`: both definitions say the same.
   */
  readonly takesEffect: "next-turn" | "now" | "next-run" | "unchanged";
  readonly dryRun: boolean;
};

/** Moves a session to another definition; refused with all the reasons that can be known before. */
export async function updateSession(
  link: Link,
  session: string,
  input: AgentDefinitionInput,
  { dryRun = false }: UpdateOptions = {},
): Promise<Updated> {
  const given = validDefinition(input);
  await checkWorkspace(given);
  const status = await sessionStatus(link, session);
  try {
    const transcript = await link.storage.transcript();
    const from = status.definitionHash ?? (await transcript.session(session))?.definitionHash;
    const before = from === undefined ? undefined : await storedDefinition(transcript, from);
    const definition = inSameWorkspace(given, before);
    const { changes, warnings, refusals } =
      before === undefined
        ? { changes: [], warnings: [], refusals: [] }
        : definitionChanges(before, definition);
    const tools = toolNamesOf(definition);
    const reasons = [
      ...refusals,
      ...missingTools(status.approvals ?? [], tools),
      ...unpricedUnderLimit(status, definition),
    ];
    if (reasons.length > 0) throw updateRefused(session, reasons);
    const to = await hashFor(transcript, definition, dryRun);
    const told = { session, ...(from === undefined ? {} : { from }), to, changes, warnings, dryRun };
    const isSame = before !== undefined && changes.length === 0 && status.movesTo === undefined;
    if (isSame) return { ...told, takesEffect: "unchanged" };
    if (dryRun) return { ...told, takesEffect: whenFor(status) };
    const taken = status.open ? await take(link, session, { definitionHash: to, tools }) : undefined;
    if (taken !== undefined) return { ...told, takesEffect: taken.takesEffect };
    await knownSession(link, session);
    const { name: agentName, model } = definition;
    await transcript.setDefinition(session, { definitionHash: to, agentName, model: model.id });
    return { ...told, takesEffect: "next-run" };
  } catch (error) {
    throw translated(error, link, session);
  }
}

/** A cost limit that holds now, of the loop or of what it is a part of, would be void with an unknown price. */
function unpricedUnderLimit({ budget }: SessionStatus, definition: AgentDefinition): readonly string[] {
  const limit = budget?.usd.limit ?? null;
  const problem = limit === null ? undefined : costLimitProblem([definition]);
  return problem === undefined ? [] : [problem];
}

/** A command line has put it in where the agent's file names none. */
function inSameWorkspace(definition: AgentDefinition, before: AgentDefinition | undefined): AgentDefinition {
  const { workspace = before?.workspace, ...rest } = definition;
  return workspace === undefined ? rest : { ...rest, workspace };
}

/** With the defaults of today where an older release has stored it. */
async function storedDefinition(transcript: Transcript, hash: string): Promise<AgentDefinition | undefined> {
  const parsed = AgentDefinition.safeParse(await transcript.definition(hash));
  return parsed.success ? parsed.data : undefined;
}

function hashFor(transcript: Transcript, definition: AgentDefinition, dryRun: boolean): Promise<string> {
  return dryRun ? Promise.resolve(definitionHash(definition)) : transcript.saveDefinition(definition);
}

/** Nothing when no run is open any more. */
async function take(
  link: Link,
  session: string,
  words: DefinitionWords,
): Promise<DefinitionTaken | undefined> {
  const update: UpdateDefinition<DefinitionTaken, [DefinitionWords]> = updateDefinitionUpdate;
  try {
    return await link.connection.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, () =>
      link.client.workflow.getHandle(session).executeUpdate(update, { args: [words] }),
    );
  } catch (error) {
    if (endedMeanwhile(error)) return undefined;
    throw error;
  }
}

function whenFor({ open, status }: SessionStatus): Updated["takesEffect"] {
  if (!open) return "next-run";
  return status === "waiting" ? "now" : "next-turn";
}

function updateRefused(session: string, reasons: readonly string[]): HoldfastError {
  return new HoldfastError(
    "update-refused",
    `Session ${session} keeps its definition:\n${reasons.map((reason) => `  - ${reason}`).join("\n")}`,
    { session, problems: reasons },
  );
}
