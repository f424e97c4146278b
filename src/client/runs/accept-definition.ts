import type { Transcript } from "../../store/transcript/transcript.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { formatSummaryLines, summariseDefinition } from "../read/definition-summary.ts";
import { getSessionRecord } from "./get-session-record.ts";

/**
 * Refuses a definition that came with an import until somebody here has accepted it.
 *
 * @throws `definition-unaccepted`, with what the definition reaches for in `problems`.
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
    `Session ${session} was imported, and its agent has not been accepted here, so it was not started. ` +
      `It brings: ${problems.join("; ")}. Accept it with \`${command}\`, or give a definition of your own.`,
    { session, problems, command },
  );
}

export type AcceptResult = {
  readonly session: string;
  readonly definitionHash: string;
  /** It was accepted before. */
  readonly already: boolean;
  /** What the agent reaches for, a line each. */
  readonly brings: readonly string[];
};

/** Accepts the definition that an imported session came with: runs may be started with it from now on. */
export async function acceptDefinition(link: ClientLink, session: string): Promise<AcceptResult> {
  try {
    const { transcript, record } = await getSessionRecord(link, session);
    const { definitionHash } = record;
    const wasAccepted = await transcript.isAccepted(definitionHash);
    const definition = await transcript.readDefinition(definitionHash);
    if (!wasAccepted) await transcript.acceptDefinition(definitionHash);
    const contents = definition === undefined ? [] : formatSummaryLines(summariseDefinition(definition));
    return { session, definitionHash, already: wasAccepted, brings: contents };
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}
