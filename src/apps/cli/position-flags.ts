import type { Command } from "commander";
import type { PositionOptions } from "../../client/index.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { UsageError } from "./usage-error.ts";

// The command-line options for positions in a conversation.

export type PositionFlags = {
  readonly at?: string;
  readonly turn?: string;
  readonly loop?: string;
  readonly branch?: string;
};

export function addPositionOptions(
  command: Command,
  help: { readonly turn: string; readonly loop: string },
): Command {
  return command
    .option(
      "--at <position>",
      "after this many messages: the # of the first excluded message, as printed by show",
    )
    .option("--turn <n>", `${help.turn}, counted from 0`)
    .option("--loop <id>", `${help.loop} (default, for --turn: the conversation at the head)`)
    .option("--branch <id>", "on this branch (default: the branch of the session's head)");
}

export function parsePosition({ at, turn, loop, branch }: PositionFlags): PositionOptions {
  return {
    ...(at === undefined ? {} : { at: parseCount("--at", at) }),
    ...(turn === undefined ? {} : { turn: parseCount("--turn", turn) }),
    ...omitUndefined({ loop, branch }),
  };
}

export function parseCount(flag: string, text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && Number.isInteger(number) && number >= 0) return number;
  throw new UsageError(`${flag} "${text}" must be a whole number of 0 or more`);
}
