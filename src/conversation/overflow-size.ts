// Reads the numbers in a vendor's message that a context does not fit.

/** The tokens of the input, as the vendor has counted them, and how many it takes. */
export type OverflowSize = { readonly requested: number; readonly limit: number };

/** "184915 + 20000 > 204648": the input, the room for the answer, the window. */
const SUM = /(\d+) \+ (\d+) > (\d+)/;

/** "(6000 in the messages, 4000 in the completion)", in the format of OpenAI and of compatible servers. */
const PARTS =
  /(\d+)(?: tokens)? (?:in|of|from) (?:the )?(?:messages|prompt|text input|input)\b.*?(\d+)(?: tokens)? (?:in|of|for|from) the (?:completion|output)/;

/** A separate number: not part of a name, a version or an id. */
const NUMBER = /(?<![\w.-])\d+(?![\w-]|\.\d)/g;

/** Smaller numbers, and HTTP status codes, are not sizes. */
const MIN_SIZE = 64;
const STATUSES: ReadonlySet<number> = new Set([400, 413, 422, 429]);

/** Returns the sizes in the vendor's message, or nothing. */
export function parseOverflowSize(vendorText: string): OverflowSize | undefined {
  const text = vendorText.toLowerCase().replace(/(?<=\d)[,_](?=\d{3})/g, "");
  const sum = SUM.exec(text);
  if (sum !== null) return buildOverflowSize(Number(sum[1]), Number(sum[3]) - Number(sum[2]));
  const numbers = (text.match(NUMBER) ?? [])
    .map(Number)
    .filter((number) => number >= MIN_SIZE && !STATUSES.has(number));
  const parts = PARTS.exec(text);
  const [first, second] = numbers;
  if (first === undefined || second === undefined) return undefined;
  if (parts !== null) {
    const answer = Number(parts[2]);
    const fits = buildOverflowSize(Math.max(first, second) - answer, Math.min(first, second) - answer);
    if (fits !== undefined) return fits;
  }
  return buildOverflowSize(Math.max(first, second), Math.min(first, second));
}

function buildOverflowSize(asked: number, limit: number): OverflowSize | undefined {
  return limit > 0 && asked > limit ? { requested: asked, limit } : undefined;
}
