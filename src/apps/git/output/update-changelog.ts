import { randomUUID } from "node:crypto";
import { chmod, mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** The section of a version, as a model has written it. */
export type ChangelogSection = {
  /** Without a `v`; `Unreleased` for what has no version yet. */
  readonly version: string;
  /** Such as `2026-11-26`. */
  readonly date?: string;
  /** The entries under their headings, as Markdown. */
  readonly content: string;
};

/** What a changelog begins with that has no section yet. */
const PREAMBLE = "# Changelog\n\n";

const UNRELEASED = "unreleased";

/** Defines where a name in brackets leads. */
const LINK = /^ {0,3}\[[^\]]+\]:\s*\S/;

/**
 * Puts a section into a changelog: in the place of the section of the same version, or before the others, after what is
 * unreleased. Every other byte stays, and so do the form of headings and line ends. Updating twice changes nothing more.
 *
 * Throws if a block of code in it does not end: what follows would not be a section.
 *
 * @param text - Absent or blank for a new file.
 */
export function updateChangelog(text: string | undefined, section: ChangelogSection): string {
  const before = text === undefined || text.trim() === "" ? PREAMBLE : text;
  const end = before.includes("\r\n") ? "\r\n" : "\n";
  const lines = splitLines(before);
  if (scanProse(lines).openFence !== undefined)
    throw new Error(
      "The changelog is not updated: a block of code in it does not end. Close it, and try again.",
    );
  const headings = findHeadings(lines);
  const own = headings.find(({ version }) => isSameVersion(version, section.version));
  const sample = own ?? headings.find(({ version }) => !isSameVersion(version, UNRELEASED)) ?? headings[0];
  const written = [formatHeading(section, sample), "", ...prepareContent(section.content)].join(end);
  if (own !== undefined) {
    const after = findEnd(lines, headings, own);
    const last = lines[after - 1] ?? "";
    return `${lines.slice(0, own.at).join("")}${written}${endOf(last)}${lines.slice(after).join("")}`;
  }
  const next = headings.find(({ version }) => !isSameVersion(version, UNRELEASED) || isUnreleased(section));
  const at = next?.at ?? findLinks(lines, headings.at(-1)?.at ?? 0);
  if (at < lines.length) {
    return `${openGap(lines.slice(0, at).join(""), end)}${written}${end}${end}${lines.slice(at).join("")}`;
  }
  const final = endOf(lines.at(-1) ?? "");
  return `${openGap(before, end)}${written}${final}`;
}

/** Updates the file, or creates it. A file that is no UTF-8 is refused: it could not be kept as it is. */
export async function updateChangelogFile(file: string, section: ChangelogSection): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const stats = await stat(target).catch(() => undefined);
  const bytes = stats === undefined ? undefined : await readFile(target);
  const text = bytes?.toString("utf8");
  if (bytes !== undefined && !Buffer.from(text ?? "").equals(bytes))
    throw new Error(`${file} is not updated: it is no UTF-8. Convert it, and try again.`);
  await mkdir(dirname(target), { recursive: true });
  const next = `${target}.${randomUUID()}`;
  try {
    await writeFile(next, updateChangelog(text, section), { flag: "wx" });
    if (stats !== undefined) await chmod(next, stats.mode);
    await rename(next, target);
  } finally {
    await rm(next, { force: true });
  }
}

type Heading = {
  /** The number of its line. */
  readonly at: number;
  readonly version: string;
  /** Whether the version stands in brackets, as a link. */
  readonly isLink: boolean;
  readonly prefix: string;
};

/** Splits a text into lines, each with its end. */
function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function endOf(line: string): string {
  return /\r?\n$/.exec(line)?.[0] ?? "";
}

/** Tells prose from blocks of code: returns the numbers of its lines, and the fence of a block that does not end. */
function scanProse(lines: readonly string[]): { prose: ReadonlySet<number>; openFence: string | undefined } {
  const prose = new Set<number>();
  let openFence: string | undefined;
  for (const [at, line] of lines.entries()) {
    const [, fence, rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line.trimEnd()) ?? [];
    if (openFence !== undefined) {
      if (fence?.startsWith(openFence) === true && rest.trim() === "") openFence = undefined;
    } else if (fence === undefined || (fence.startsWith("`") && rest.includes("`"))) prose.add(at);
    else openFence = fence;
  }
  return { prose, openFence };
}

function findHeadings(lines: readonly string[]): readonly Heading[] {
  const headings: Heading[] = [];
  for (const at of scanProse(lines).prose) {
    const line = lines[at] ?? "";
    const found = /^ {0,3}##[ \t]+(\[?)(v?)([^\s\]()]+)/i.exec(line);
    if (found === null) continue;
    const [, bracket, prefix = "", version = ""] = found;
    headings.push({ at, version, isLink: bracket === "[", prefix });
  }
  return headings;
}

function isSameVersion(one: string, other: string): boolean {
  const plain = (version: string) => version.toLowerCase().replace(/^v(?=\d)/, "");
  return plain(one) === plain(other);
}

function isUnreleased({ version }: ChangelogSection): boolean {
  return isSameVersion(version, UNRELEASED);
}

function formatHeading({ version, date }: ChangelogSection, sample: Heading | undefined): string {
  const plain = version.replace(/^v(?=\d)/i, "");
  const named = /^\d/.test(plain) ? `${sample?.prefix ?? ""}${plain}` : plain;
  return `## ${sample?.isLink === false ? named : `[${named}]`}${date === undefined ? "" : ` - ${date}`}`;
}

/** Returns where a section ends: blank lines and links after it are not its own. */
function findEnd(lines: readonly string[], headings: readonly Heading[], { at }: Heading): number {
  const next = headings.find((heading) => heading.at > at)?.at ?? findLinks(lines, at);
  const isTop = (line: number) => line > at && /^ {0,3}#[ \t]/.test(lines[line] ?? "");
  let end = Math.min(next, [...scanProse(lines).prose].find(isTop) ?? lines.length);
  while (end > at + 1 && (lines[end - 1] ?? "").trim() === "") end -= 1;
  return end;
}

/** Returns the number of the first of the links that end the file, after a line. */
function findLinks(lines: readonly string[], after: number): number {
  let first = lines.length;
  for (let at = lines.length - 1; at > after; at -= 1) {
    const line = lines[at] ?? "";
    if (LINK.test(line)) first = at;
    else if (line.trim() !== "") break;
  }
  return first;
}

/** Leaves one blank line between what is there and what follows. */
function openGap(text: string, end: string): string {
  if (text === "" || text.endsWith(`${end}${end}`)) return text;
  return text.endsWith(end) ? `${text}${end}` : `${text}${end}${end}`;
}

/**
 * Returns the lines of the content, which must not end its section early: a heading of its own version is left out, others
 * of that level sink below it, links come first, as those at the end are the file's, and a block of code is closed.
 */
function prepareContent(content: string): readonly string[] {
  const lines = content.replace(/\r\n?/g, "\n").trim().split("\n");
  if (/^ {0,3}##?[ \t]/.test(lines[0] ?? "")) lines.shift();
  const { prose, openFence } = scanProse(lines);
  const isLink = (line: string, at: number) => prose.has(at) && LINK.test(line);
  const links = lines.filter(isLink);
  const sunk = lines
    .map((line, at) => (prose.has(at) ? line.replace(/^( {0,3})##?(?=[ \t]|$)/, "$1###") : line))
    .filter((line, at) => !isLink(line, at));
  const text = [...sunk, ...(openFence === undefined ? [] : [openFence])].join("\n");
  const trimmed = text
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd()
    .split("\n");
  return links.length === 0 ? trimmed : [...links, "", ...trimmed];
}
