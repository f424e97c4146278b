import { toVisibleName, toVisibleText } from "../text/visible-text.ts";
import type { FileRank } from "./rank-files.ts";
import type { Definition } from "./symbols.ts";

/** A token of code is about 3.5 characters. */
const CHARS_PER_TOKEN = 3.5;
const MAX_IMPORTS = 4;
/** A small map shows a little of several files rather than all of one. */
const TOKENS_PER_DEFINITION = 250;
const DEFINITIONS_PER_FILE = { least: 4, most: 25 };

/** What a map shows of a file. */
type MapEntry = {
  readonly path: string;
  readonly imports: readonly string[];
  readonly definitions: readonly Definition[];
  /** How many definitions it has that are not shown. */
  readonly left: number;
};

export type RepoMap = {
  readonly text: string;
  readonly entries: readonly MapEntry[];
  /** An estimate that is never above the budget. */
  readonly tokens: number;
};

function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/**
 * Writes files by falling rank, with the definitions that others use most, until the budget is spent. The first file that
 * does not fit whole is shortened, and ends the map.
 */
export function formatMap(ranks: readonly FileRank[], maxTokens: number): RepoMap {
  const entries: MapEntry[] = [];
  const parts: string[] = [];
  let room = Math.floor(maxTokens * CHARS_PER_TOKEN);
  const { least, most } = DEFINITIONS_PER_FILE;
  const perFile = Math.min(most, Math.max(least, Math.floor(maxTokens / TOKENS_PER_DEFINITION)));
  for (const rank of ranks) {
    if (rank.file.definitions.length === 0) continue;
    const whole = toEntry(rank, perFile);
    const entry = fit(whole, room, rank);
    if (entry === undefined) break;
    const text = formatEntry(entry);
    parts.push(text);
    entries.push(entry);
    room -= text.length + 1;
    if (entry.definitions.length < whole.definitions.length) break;
  }
  const text = parts.join("\n");
  return { text, entries, tokens: estimateTokens(text) };
}

function fit(whole: MapEntry, room: number, rank: FileRank): MapEntry | undefined {
  for (let count = whole.definitions.length; count > 0; count -= 1) {
    const entry = count === whole.definitions.length ? whole : toEntry(rank, count);
    if (formatEntry(entry).length <= room) return entry;
  }
  return undefined;
}

function toEntry({ file, uses }: FileRank, count: number): MapEntry {
  const { path, imports, definitions } = file;
  const chosen = definitions
    .toSorted((a, b) => (uses.get(b.name) ?? 0) - (uses.get(a.name) ?? 0) || a.line - b.line)
    .slice(0, count)
    .toSorted((a, b) => a.line - b.line);
  return {
    path,
    imports: imports.slice(0, MAX_IMPORTS),
    definitions: chosen,
    left: definitions.length - chosen.length,
  };
}

function formatEntry({ path, imports, definitions, left }: MapEntry): string {
  return [
    `${toVisibleName(path)}:`,
    ...(imports.length === 0 ? [] : [`  imports ${imports.map(toVisibleName).join(", ")}`]),
    ...definitions.map(({ line, signature }) => `  ${line}: ${toVisibleText(signature)}`),
    ...(left > 0 ? [`  ... ${left} more`] : []),
  ].join("\n");
}
