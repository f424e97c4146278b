import type { Command, Option } from "commander";

/** A command as its completions and its manual page describe it. */
export type CommandNode = {
  readonly name: string;
  readonly aliases: readonly string[];
  /** One sentence. */
  readonly summary: string;
  /** The heading under which the help lists it. */
  readonly group: string;
  /** The arguments, as the help prints them. */
  readonly usage: string;
  readonly options: readonly OptionNode[];
  readonly commands: readonly CommandNode[];
};

export type OptionNode = {
  /** The flags as the help prints them: `-m, --model <name>`. */
  readonly flags: string;
  readonly short: string | undefined;
  readonly long: string | undefined;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
  readonly summary: string;
};

/** Describes a command and all commands below it. */
export function describeCommand(command: Command): CommandNode {
  return {
    name: command.name(),
    aliases: command.aliases(),
    summary: command.description(),
    group: command.helpGroup(),
    usage: command.usage(),
    options: command.options.filter(({ hidden }) => !hidden).map(describeOption),
    commands: command.commands.map(describeCommand),
  };
}

function describeOption({
  flags,
  short,
  long,
  required,
  optional,
  argChoices,
  description,
}: Option): OptionNode {
  return {
    flags,
    short,
    long,
    takesValue: required || optional,
    choices: argChoices ?? [],
    summary: description,
  };
}
