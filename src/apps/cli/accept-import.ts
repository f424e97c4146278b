import { createInterface } from "node:readline/promises";
import { HoldfastError } from "../../client/holdfast-error.ts";
import { withHoldfast } from "./connection.ts";
import type { Context } from "./context.ts";
import { print } from "./output.ts";
import { stripControls } from "./palette.ts";

/**
 * Runs the work. If the work needs an imported agent that is not accepted, asks for confirmation at a terminal, accepts
 * the agent and runs the work again. Without a terminal, throws the error, which contains the command to type.
 */
export async function confirmImportedAgent(context: Context, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const isUnaccepted = error instanceof HoldfastError && error.code === "definition-unaccepted";
    const { session, problems = [] } = isUnaccepted ? error.facts : {};
    if (session === undefined || !canAsk(context)) throw error;
    context.report(
      `Session ${session} is imported, and its agent is not accepted on this machine. The agent uses:`,
    );
    for (const line of problems) context.report(`  ${stripControls(line)}`);
    if (!(await askYesNo(context, "Accept it and continue? y/N "))) throw error;
    await withHoldfast(context, (holdfast) => holdfast.sessions.acceptDefinition(session));
    return await work();
  }
}

/** Whether somebody at this terminal can answer a question. */
export function canAsk({ streams, json }: Context): boolean {
  return !json && streams.stdin.isTTY === true && streams.stderr.isTTY === true;
}

export async function askYesNo({ streams }: Context, question: string): Promise<boolean> {
  print(streams.stderr, question);
  const lines = createInterface({ input: streams.stdin });
  try {
    return /^y(es)?$/i.test((await lines.question("")).trim());
  } finally {
    lines.close();
  }
}
