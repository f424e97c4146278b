import type { Transcript } from "../../store/transcript/transcript.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { formatSummaryLines, summariseDefinition } from "../read/definition-summary.ts";
import { getSessionRecord } from "./get-session-record.ts";

/**
 * Rejects a definition that arrived with an import and that nobody has accepted here.
 *
 * @throws `definition-unaccepted`, with the resources that the definition uses in `problems`.
 */
export async function assertDefinitionAccepted(
  transcript: Transcript,
  session: string,
  hash: string,
): Promise<void> {
  if (await transcript.isAccepted(hash)) return;
  const definition = await transcript.readDefinition(hash);
  const problems = definition === undefined ? [] : formatSummaryLines(summariseDefinition(definition));
  const command = `holdfast accept ${session}`;
  throw new HoldfastError(
    "definition-unaccepted",
    `Session ${session} was imported, and its agent has not been accepted here. The run was not started. ` +
      `The agent uses: ${problems.join("; ")}. Accept it with \`${command}\`, or specify your own definition.`,
    { session, problems, command },
  );
}

/** The definition that was accepted: runs may be started with it. */
export type AcceptResult = {
  readonly session: string;
  readonly definitionHash: string;
  /** Whether it had been accepted earlier. */
  readonly wasAccepted: boolean;
  /** The resources that the agent uses, one per line. */
  readonly contents: readonly string[];
};

/** Accepts the definition that an imported session arrived with: runs may be started with it from then on. */
export async function acceptDefinition(link: ClientLink, session: string): Promise<AcceptResult> {
  try {
    const { transcript, record } = await getSessionRecord(link, session);
    const { definitionHash } = record;
    const wasAccepted = await transcript.isAccepted(definitionHash);
    const definition = await transcript.readDefinition(definitionHash);
    if (!wasAccepted) await transcript.acceptDefinition(definitionHash);
    const contents = definition === undefined ? [] : formatSummaryLines(summariseDefinition(definition));
    return { session, definitionHash, wasAccepted, contents };
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}
