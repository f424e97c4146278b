import { isVisible } from "./is-visible.ts";
import type { FileSymbols } from "./symbols.ts";

export type MappedFile = FileSymbols & {
  readonly path: string;
  /** How often each name occurs in its text. */
  readonly words: ReadonlyMap<string, number>;
};

export type FileRank = {
  readonly file: MappedFile;
  /** The ranks of all files add up to 1. */
  readonly rank: number;
  /** How often other files use each name that it defines. */
  readonly uses: ReadonlyMap<string, number>;
};

const DAMPING = 0.85;
const ITERATIONS = 30;
/** A name that many files define, such as `run` or `main`, says nothing about which of them is meant. */
const MAX_DEFINING_FILES = 8;
const MIN_NAME_CHARS = 3;

/** A file of the diff or one that was named is where a reader begins: so many times as likely as another. */
const LIFT = 50;

/** A name in a file that does not import its definer is likelier another thing of that name. */
const NOT_IMPORTED = 0.002;

type Link = { readonly to: number; readonly weight: number };

/**
 * Ranks files by PageRank: a file that uses a name passes its rank to the files that define it. The reader begins in any
 * file, and far more likely in a lifted one.
 *
 * @param lifted - Paths of files, and names that are defined somewhere.
 */
export function rankFiles(
  files: readonly MappedFile[],
  lifted: ReadonlySet<string> = new Set(),
): readonly FileRank[] {
  const definers = findDefiners(files);
  const uses = files.map(() => new Map<string, number>());
  const places = files.map(({ path }) => readPlace(path));
  const links = files.map((file, at) => linkFile(file, at, { definers, places, uses }));
  const starts = files.map((file) => (isLifted(file, lifted) ? LIFT : 1));
  const ranks = iterate(links, normalise(starts));
  return files
    .map((file, at) => ({ file, rank: ranks[at] ?? 0, uses: uses[at] ?? new Map() }))
    .toSorted((a, b) => b.rank - a.rank || (a.file.path < b.file.path ? -1 : 1));
}

function findDefiners(files: readonly MappedFile[]): ReadonlyMap<string, readonly number[]> {
  const definers = new Map<string, number[]>();
  for (const [at, { path, definitions }] of files.entries()) {
    const visible = definitions.filter((definition) => isVisible(path, definition));
    for (const name of new Set(visible.map((definition) => definition.name))) {
      if (name.length < MIN_NAME_CHARS) continue;
      const known = definers.get(name);
      if (known === undefined) definers.set(name, [at]);
      else known.push(at);
    }
  }
  return definers;
}

type Place = { readonly folder: string; readonly names: readonly string[] };

/** Returns the names by which others import a file: its own, or its folder's. */
function readPlace(path: string): Place {
  const parts = path.split("/");
  const own = parts.pop()?.replace(/\.[^.]+$/, "") ?? "";
  return { folder: parts.join("/"), names: [own, parts.at(-1) ?? ""].filter((name) => name !== "") };
}

type Graph = {
  readonly definers: ReadonlyMap<string, readonly number[]>;
  readonly places: readonly Place[];
  readonly uses: readonly Map<string, number>[];
};

function linkFile(
  { words, imports }: MappedFile,
  at: number,
  { definers, places, uses }: Graph,
): readonly Link[] {
  const weights = new Map<number, number>();
  const imported = new Set(imports.flatMap((one) => one.split(/[/\\.:]+/)));
  const near = places[at]?.folder;
  const nearness = (to: number) => {
    const place = places[to];
    const isImported = place?.names.some((name) => imported.has(name)) === true;
    return isImported || (imports.length === 0 && place?.folder === near) ? 1 : NOT_IMPORTED;
  };
  for (const [word, count] of words) {
    const to = definers.get(word);
    if (to === undefined || to.length > MAX_DEFINING_FILES || to.includes(at)) continue;
    for (const one of to) {
      const certainty = nearness(one) / to.length;
      weights.set(one, (weights.get(one) ?? 0) + certainty * Math.sqrt(count));
      const used = uses[one];
      used?.set(word, (used.get(word) ?? 0) + certainty);
    }
  }
  return [...weights].map(([to, weight]) => ({ to, weight }));
}

function isLifted({ path, definitions }: MappedFile, lifted: ReadonlySet<string>): boolean {
  if (lifted.size === 0) return false;
  const name = path.split("/").at(-1) ?? "";
  return (
    lifted.has(path) || lifted.has(name) || definitions.some((definition) => lifted.has(definition.name))
  );
}

function iterate(links: readonly (readonly Link[])[], starts: readonly number[]): readonly number[] {
  const sums = links.map((own) => own.reduce((sum, { weight }) => sum + weight, 0));
  let ranks = starts;
  for (let round = 0; round < ITERATIONS; round += 1) {
    const next = new Float64Array(links.length);
    // A file that uses nothing passes its rank to where a reader begins.
    let lost = 0;
    for (const [at, own] of links.entries()) {
      const rank = ranks[at] ?? 0;
      const sum = sums[at] ?? 0;
      if (sum === 0) lost += rank;
      for (const { to, weight } of own) next[to] = (next[to] ?? 0) + (rank * weight) / sum;
    }
    ranks = starts.map((start, at) => (1 - DAMPING) * start + DAMPING * ((next[at] ?? 0) + lost * start));
  }
  return ranks;
}

function normalise(weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
