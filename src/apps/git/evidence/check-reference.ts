import type { EvidenceReader } from "./evidence-reader.ts";
import { formatReference, parseReference, type Reference } from "./reference.ts";

/** Returns why a reference does not hold, as a sentence, or `undefined` if it does. */
export async function findReferenceProblem(
  text: string,
  reader: EvidenceReader,
): Promise<string | undefined> {
  const parsed = parseReference(text);
  if (!parsed.ok) return `${parsed.reason}.`;
  const { reference } = parsed;
  const file = await reader.readFile(reference.commit, reference.path);
  if (file.type === "unreadable") return `${formatReference(reference)}: ${file.reason}.`;
  const problem = findLineProblem(reference, file.lines);
  return problem === undefined ? undefined : `${formatReference(reference)}: ${problem}.`;
}

function findLineProblem({ from, to, symbol }: Reference, lines: readonly string[]): string | undefined {
  if (to > lines.length) return `the file ends at line ${lines.length}`;
  const cited = lines.slice(from - 1, to);
  if (cited.every((line) => line.trim() === "")) return "the lines are blank";
  if (symbol === undefined || cited.some((line) => containsSymbol(line, symbol))) return undefined;
  return `the lines do not contain ${symbol}`;
}

/** Reports whether a line contains a name as a whole; of a qualified name, its last part is enough. */
function containsSymbol(line: string, symbol: string): boolean {
  const name = /[^.:#\s]+$/.exec(symbol.replace(/\(.*\)$/, ""))?.[0] ?? symbol;
  for (let at = line.indexOf(name); at !== -1; at = line.indexOf(name, at + 1)) {
    if (!isPartOfName(line[at - 1]) && !isPartOfName(line[at + name.length])) return true;
  }
  return false;
}

function isPartOfName(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_$]/u.test(character);
}
