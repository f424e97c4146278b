import type { ZodType } from "zod";
import { readOutput } from "../../conversation/output-value.ts";
import type { RunTotals } from "../../core/machine/state/run-totals.ts";
import { matchesSchema } from "../../platform/json-schema/schema-validator.ts";
import type { RunResult } from "../../workflows/run-result.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { getRetryingTranscript } from "./retry-outage.ts";
import { formatProblems } from "./zod-output.ts";

/** How to wait for a result. */
export type ResultOptions = {
  /** Ends the wait; the run continues. */
  readonly signal?: AbortSignal;
};

/** A run's result; `output` is present if its last answer is the structured output that its definition requires. */
export type SessionResult<Output = unknown> = RunResult & RunTotals & { readonly output?: Output };

/** Adds the output to a result: from its text, or from the transcript if it is longer than a result may be. */
export async function addOutput<Output, Result extends RunResult>(
  link: ClientLink,
  result: Result,
  schema: ZodType<Output> | undefined,
  signal?: AbortSignal,
): Promise<Result & { readonly output?: Output }> {
  if (result.json === undefined) return result;
  const value =
    result.json === "complete"
      ? JSON.parse(result.text ?? "null")
      : await readStoredOutput(link, result, signal);
  if (schema === undefined) return { ...result, output: value as Output };
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ...result, output: parsed.data };
  throw new HoldfastError(
    "output-invalid",
    `The output of session ${result.session} matches the definition's schema, but not the zod schema of this client: ` +
      formatProblems(parsed.error),
    { session: result.session, cause: parsed.error },
  );
}

async function readStoredOutput(
  link: ClientLink,
  { session, branch, loopId, position = 0 }: RunResult,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  try {
    const transcript = await getRetryingTranscript(link.storage, signal);
    const [entry] = (await transcript?.readEntries(session, branch, position, position + 1)) ?? [];
    const loop = (await transcript?.readLoops(session))?.find((one) => one.loopId === loopId);
    const definition = loop && (await transcript?.readDefinition(loop.definitionHash));
    const output = definition?.output;
    if (entry?.message.role === "assistant" && output !== undefined && output.type !== "text") {
      const found = readOutput(entry.message, output, matchesSchema);
      if (found.type === "found") return found.value;
    }
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
  throw new HoldfastError(
    "output-unreadable",
    `The output of session ${session} is too long for a result, and the transcript in ` +
      `${link.storage.home.folder} does not contain it. Read it on the machine that has the worker's transcript.`,
    { session },
  );
}
