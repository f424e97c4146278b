import { toVisibleName, toVisibleText } from "../text/visible-text.ts";

/** Without it, the page would notify whoever has the name. */
const NO_MENTION = "@&#8203;";

/**
 * Returns a text so that Markdown shows it as it is: no heading, link, image, HTML, list or mention comes of it. Its lines
 * and paragraphs stay.
 */
export function escapeMarkdown(text: string): string {
  return toVisibleText(text).split("\n").map(escapeLine).join("\n");
}

function escapeLine(line: string): string {
  const [, space = "", rest = ""] = /^([ \t]*)(.*)$/s.exec(line) ?? [];
  const escaped = rest
    .replace(/[\\`*_[\]!|~#<>&$]/g, "\\$&")
    // What would begin a list, a heading of an underline, or a rule.
    .replace(/^([-+=])/, "\\$1")
    .replace(/^(\d+)([.)])/, "$1\\$2")
    // A link that nobody has written as one.
    .replace(/:(?=\/\/)/g, "\\:")
    .replace(/\bwww\./gi, (found) => found.replace(".", "\\."))
    .replace(/@/g, NO_MENTION);
  // Spaces before a text would make it code.
  return `${rest === "" ? "" : "&nbsp;".repeat(space.replace(/\t/g, "    ").length)}${escaped}`;
}

/** Returns a name as code, whatever it contains. */
export function toCode(name: string): string {
  const visible = toVisibleName(name);
  const fence = "`".repeat(longestRun(visible) + 1);
  const edge = /^`|`$|^ .* $/.test(visible) ? " " : "";
  return `${fence}${edge}${visible}${edge}${fence}`;
}

/** Returns a text as a block of code, which no line of it can end. */
export function toCodeBlock(text: string): string {
  const visible = toVisibleText(text.replace(/\n+$/, ""));
  const fence = "`".repeat(Math.max(3, longestRun(visible) + 1));
  return `${fence}\n${visible}\n${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}
