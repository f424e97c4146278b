import { findNearestName } from "../../../platform/text/nearest-name.ts";

/** A command of the chat. The first name is the one that help and completion display. */
export type ChatCommand = {
  readonly names: readonly [`/${string}`, ...`/${string}`[]];
  /** Displayed after the name; in brackets if it can be omitted. */
  readonly argument?: string;
  readonly description: string;
};

/** The commands, in the order of help and completion: of two with the same first letters, the harmless one comes first. */
export const CHAT_COMMANDS = [
  { names: ["/help"], description: "list the commands and keys" },
  { names: ["/status"], description: "display the session's status" },
  { names: ["/model"], description: "display the model and its context window" },
  { names: ["/steer"], argument: "TEXT", description: "deliver TEXT before the agent's next answer" },
  {
    names: ["/follow-up", "/follow", "/f"],
    argument: "TEXT",
    description: "deliver TEXT when the agent would otherwise stop",
  },
  { names: ["/approvals"], description: "display the postponed approvals again" },
  {
    names: ["/compact"],
    argument: "[FOCUS]",
    description: "make the context smaller; FOCUS says what matters most",
  },
  { names: ["/stop"], description: "stop the run" },
  { names: ["/exit", "/quit"], description: "exit; you can resume the session later" },
] as const satisfies readonly ChatCommand[];

/** The displayed name of a command. */
export type ChatCommandName = (typeof CHAT_COMMANDS)[number]["names"][0];

const ALL: readonly ChatCommand[] = CHAT_COMMANDS;

/** @returns The displayed name of the command that has this name or alias. */
export function findCommand(name: string): ChatCommandName | undefined {
  return ALL.find(({ names }) => names.some((one) => one === name))?.names[0] as ChatCommandName | undefined;
}

/** Whether the command does nothing without an argument. */
export function needsArgument(name: ChatCommandName): boolean {
  const argument = ALL.find(({ names }) => names[0] === name)?.argument;
  return argument !== undefined && !argument.startsWith("[");
}

/** Explains that there is no such command, and how to send the text as a message. */
export function formatUnknownCommand(name: string): string {
  const near = findNearestName(
    name,
    ALL.flatMap(({ names }) => names),
  );
  const hint = near === undefined ? "/help lists the commands" : `did you mean ${near}?`;
  return `Unknown command ${name}: ${hint} (a message that begins with a slash: //…)`;
}

/** Formats the commands for help, one a line. */
export function formatCommands(): readonly string[] {
  const rows = ALL.map(
    ({ names, argument, description }) =>
      [`${names.join(", ")}${argument === undefined ? "" : ` ${argument}`}`, description] as const,
  );
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, description]) => `  ${left.padEnd(width)}   ${description}`);
}
