import type { Score } from "../../schema/score.ts";
import type { ScoreSubject } from "../../schema/score-subject.ts";
import type { ScorerOf } from "../../schema/scorer.ts";
import { simplifyText } from "./exact.ts";
import { readExpectedTexts } from "./expected-texts.ts";
import { toUnscorable } from "./outcome.ts";

/** The longest text that is compared, in code points. The time is their product: 20,000 times 20,000 take some 50 ms. */
export const MAX_COMPARED_CHARS = 20_000;

/** Scores how near the answer is to the nearest of the expected texts. */
export function scoreEditDistance(
  { expected: own, ignoreCase, trim }: ScorerOf<"edit-distance">,
  { answer, expected }: Pick<ScoreSubject, "answer" | "expected">,
): Score {
  const wanted = readExpectedTexts(own, expected);
  if (wanted.type === "missing") return wanted.score;
  const toPoints = (text: string) => Array.from(simplifyText(text, { ignoreCase, trim }));
  const given = toPoints(answer);
  const texts = wanted.values.map(toPoints);
  if ([given, ...texts].some(({ length }) => length > MAX_COMPARED_CHARS)) {
    return toUnscorable(`A text is longer than ${MAX_COMPARED_CHARS} characters.`);
  }
  return { class: "scored", value: Math.max(...texts.map((text) => computeSimilarity(given, text))) };
}

function computeSimilarity(one: readonly string[], other: readonly string[]): number {
  const longer = Math.max(one.length, other.length);
  return longer === 0 ? 1 : 1 - computeEditDistance(one, other) / longer;
}

const WORD_BITS = 32;

/**
 * Computes the Levenshtein distance of two lists: the number of insertions, deletions and replacements between them.
 *
 * The method is Myers' (1999), with Hyyrö's blocks: it computes 32 rows of the table at once, of which each bit of a word holds
 * by how much a row differs from the one above. Blocks of rows are computed from the top, each over all columns.
 */
export function computeEditDistance(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return Math.max(one.length, other.length);
  const ids = new Map<string, number>();
  const toIds = (text: readonly string[]) => Uint32Array.from(text, (character) => getId(character, ids));
  const [rows, columns] = one.length < other.length ? [toIds(one), toIds(other)] : [toIds(other), toIds(one)];
  /** By how much each cell of the block's upper border differs from its left neighbour: 1, 0 or -1. */
  const border = new Int8Array(columns.length).fill(1);
  let sum = 0;
  for (let start = 0; start < rows.length; start += WORD_BITS) {
    sum = computeBlock(rows.subarray(start, start + WORD_BITS), columns, border, new Int32Array(ids.size));
  }
  return rows.length + sum;
}

function getId(character: string, ids: Map<string, number>): number {
  const id = ids.get(character) ?? ids.size;
  ids.set(character, id);
  return id;
}

/**
 * Computes a block, replaces its upper border by its lower one, and returns the sum of the lower border.
 *
 * @param matches - Zeros; receives the rows of each character.
 */
function computeBlock(
  block: Uint32Array,
  columns: Uint32Array,
  border: Int8Array,
  matches: Int32Array,
): number {
  for (const [row, character] of block.entries()) matches[character] = (matches[character] ?? 0) | (1 << row);
  const lowest = 1 << (block.length - 1);
  // The bits of the rows that are larger (`up`) or smaller (`down`) than the row above.
  let [up, down, sum] = [-1, 0, 0];
  for (let column = 0; column < columns.length; column += 1) {
    const above = border[column] as number;
    const equal = matches[columns[column] as number] as number;
    const vertical = equal | down;
    const carried = equal | (above < 0 ? 1 : 0);
    const diagonal = (((carried & up) + up) ^ up) | carried;
    let larger = down | ~(diagonal | up);
    let smaller = up & diagonal;
    const below = (larger & lowest) !== 0 ? 1 : (smaller & lowest) !== 0 ? -1 : 0;
    larger = (larger << 1) | (above > 0 ? 1 : 0);
    smaller = (smaller << 1) | (above < 0 ? 1 : 0);
    up = smaller | ~(vertical | larger);
    down = larger & vertical;
    border[column] = below;
    sum += below;
  }
  return sum;
}
