import type { Transcript } from "../../store/transcript/transcript.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { translated } from "../failures.ts";
import { definitionSummary, summaryLines } from "../read/definition-summary.ts";
import { knownSession } from "./known-session.ts";

/**
 * Refuses a definition that came with an import until somebody here has accepted it.
 *
 * @throws `definition-unaccepted`, with what the definition reaches for in `problems`.
 */
export async function mustBeAccepted(transcript: Transcript, session: string, hash: string): Promise<void> {
  if (await transcript.isAccepted(hash)) return;
  const definition = await transcript.definition(hash);
  const problems = definition === undefined ? [] : summaryLines(definitionSummary(definition));
  const command = `holdfast accept ${session}`;
  throw new HoldfastError(
    "definition-unaccepted",
    `Session ${session} was imported, and its agent has not been accepted here, so it was not started. ` +
      `It brings: ${problems.join("; ")}. Accept it with \`${command}\`, or give a definition of your own.`,
    { session, problems, command },
  );
}

export type Accepted = {
  readonly session: string;
  readonly definitionHash: string;
  /** It was accepted before. */
  readonly already: boolean;
  /** What the agent reaches for, a line each. */
  readonly brings: readonly string[];
};

/** Accepts the definition that an imported session came with: runs may be started with it from now on. */
export async function acceptDefinition(link: Link, session: string): Promise<Accepted> {
  try {
    const { transcript, record } = await knownSession(link, session);
    const { definitionHash } = record;
    const already = await transcript.isAccepted(definitionHash);
    const definition = await transcript.definition(definitionHash);
    if (!already) await transcript.acceptDefinition(definitionHash);
    const brings = definition === undefined ? [] : summaryLines(definitionSummary(definition));
    return { session, definitionHash, already, brings };
  } catch (error) {
    throw translated(error, link, session);
  }
}
