import type { Command } from "commander";
import type { PositionOptions } from "../../client/index.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { UsageError } from "./usage-error.ts";

// The command-line options for positions in a conversation, the same in all commands.

export type PositionFlags = {
  readonly at?: string;
  readonly beforeTurn?: string;
  readonly afterTurn?: string;
  readonly loop?: string;
  readonly beforeLoop?: string;
  readonly afterLoop?: string;
  readonly branch?: string;
};

/** What a message says that asks for a position. */
export const POSITION_HINT =
  "Specify --at POSITION, --before-turn N, --after-turn N, --before-loop ID, --after-loop ID or --branch ID.";

export function addPositionOptions(command: Command): Command {
  return command
    .option(
      "--at <position>",
      "after this many messages: the # of the first excluded message, as printed by show",
    )
    .option("--before-turn <n>", "before this turn's answer: the context that the model had for it; from 0")
    .option("--after-turn <n>", "after this turn, its answer and tool results included; from 0")
    .option("--loop <id>", "the loop in which turns are counted (default: the conversation at the head)")
    .option("--before-loop <id>", "before this loop's prompts")
    .option("--after-loop <id>", "after this loop")
    .option("--branch <id>", "on this branch (default: the branch of the session's head)");
}

export function parsePosition(flags: PositionFlags): PositionOptions {
  const { at, beforeTurn, afterTurn, loop, beforeLoop, afterLoop, branch } = flags;
  return omitUndefined({
    at: parseOptionalCount("--at", at),
    beforeTurn: parseOptionalCount("--before-turn", beforeTurn),
    afterTurn: parseOptionalCount("--after-turn", afterTurn),
    ...{ loop, beforeLoop, afterLoop, branch },
  });
}

function parseOptionalCount(flag: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseCount(flag, text);
}

export function parseCount(flag: string, text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && Number.isInteger(number) && number >= 0) return number;
  throw new UsageError(`${flag} "${text}" must be a whole number of 0 or more`);
}
