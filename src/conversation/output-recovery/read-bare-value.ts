import { BROKEN, type LooseSource, MISSING, markCut } from "./loose-source.ts";
import { matchAt } from "./read-key.ts";
import { readUnopened } from "./read-quoted.ts";

const NUMBER = /[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const STRICT_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WORD = /[A-Za-z]+/y;
const DELIMITER = /[\s,;:}\]#/)<\\\uff0c]|```/y;
const UNQUOTED = /[\p{L}_][\p{L}\p{N}_./ -]{0,100}(?=\s{0,100}[,}\]\n\uff0c])/uy;

const LITERALS: Readonly<Record<string, boolean | null>> = {
  true: true,
  false: false,
  null: null,
  none: null,
  nil: null,
  undefined: null,
};

/** Reads a number, a literal, or one or several words without quotes. */
export function readBareValue(source: LooseSource): unknown | typeof BROKEN | typeof MISSING {
  const { text, at, repairs } = source;
  const number = matchAt(NUMBER, text, at)?.[0];
  if (number !== undefined) {
    const end = at + number.length;
    // More digits may have followed.
    if (end >= text.length) return endWithin(source);
    if (matchAt(DELIMITER, text, end) === undefined) return BROKEN;
    source.at = end;
    if (!STRICT_NUMBER.test(number)) repairs.add("numbers rewritten");
    const value = Number(number.replaceAll("_", ""));
    return Number.isFinite(value) ? value : BROKEN;
  }
  const word = matchAt(WORD, text, at)?.[0];
  if (word === undefined) return BROKEN;
  const end = at + word.length;
  if (end >= text.length) return readCutLiteral(source, word);
  const known = word.toLowerCase();
  if (Object.hasOwn(LITERALS, known) && matchAt(DELIMITER, text, end) !== undefined) {
    if (!["true", "false", "null"].includes(word)) repairs.add("literals of another language read");
    source.at = end;
    return LITERALS[known];
  }
  const words = matchAt(UNQUOTED, text, at)?.[0];
  if (words === undefined) return readUnopened(source);
  repairs.add("missing quotes of texts added");
  source.at = at + words.length;
  return words.trim();
}

function readCutLiteral(source: LooseSource, word: string): unknown {
  const literal = ["true", "false", "null"].find((one) => one.startsWith(word));
  if (literal === undefined) return endWithin(source);
  source.at = source.text.length;
  source.repairs.add("literal cut off at the end completed");
  return LITERALS[literal];
}

function endWithin(source: LooseSource): typeof MISSING {
  source.at = source.text.length;
  markCut(source);
  return MISSING;
}
