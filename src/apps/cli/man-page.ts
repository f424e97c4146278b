import type { CommandNode, OptionNode } from "./command-tree.ts";
import { EXIT_CODES_HELP } from "./exit-codes.ts";

/** Formats the manual page in the format of man(7): the commands in their groups, with their options. */
export function formatManPage(program: CommandNode, version: string): string {
  const groups = [...new Set(program.commands.map(({ group }) => group))];
  return [
    `.TH HOLDFAST 1 "" "holdfast ${escapeText(version)}" "User Commands"`,
    ".SH NAME",
    `holdfast \\- ${escapeText(program.summary)}`,
    ".SH SYNOPSIS",
    ".B holdfast",
    escapeText(program.usage),
    ...groups.flatMap((group) => [
      `.SH ${escapeText(group.replace(/:$/, "").toUpperCase())}`,
      ...program.commands
        .filter((one) => one.group === group)
        .flatMap((one) => formatCommand(one, "holdfast")),
    ]),
    ".SH GLOBAL OPTIONS",
    ...program.options.flatMap(formatOption),
    ...formatSections(EXIT_CODES_HELP),
    "",
  ].join("\n");
}

function formatCommand(node: CommandNode, parent: string): readonly string[] {
  const name = `${parent} ${node.name}`;
  return [
    `.SS "${escapeText(name)} ${escapeText(node.usage)}"`,
    escapeText(node.summary),
    ...node.options.flatMap(formatOption),
    ...node.commands.flatMap((one) => formatCommand(one, name)),
  ];
}

function formatOption({ flags, summary }: OptionNode): readonly string[] {
  return [".TP", `.B ${escapeText(flags)}`, escapeText(summary)];
}

/** Formats the sections of a help text as they are: headings that end in a colon, and indented lines. */
function formatSections(help: string): readonly string[] {
  const lines = help
    .split("\n")
    .map((line) =>
      /^\S.*:$/.test(line)
        ? `.fi\n.SH ${escapeText(line.slice(0, -1).toUpperCase())}\n.nf`
        : escapeText(line),
    );
  return [".nf", ...lines.filter((line) => line !== ""), ".fi"];
}

/** Escapes what roff interprets: backslashes, hyphens, quotes, a dot at the beginning of a line, and what is not ASCII. */
function escapeText(text: string): string {
  return text
    .replace(/\\/g, "\\e")
    .replace(/-/g, "\\-")
    .replace(/"/g, "\\(dq")
    .replace(/\s*\n\s*/g, " ")
    .replace(
      /[^\x20-\x7e]/gu,
      (char) => `\\[u${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}]`,
    )
    .replace(/^([.'])/, "\\&$1");
}
