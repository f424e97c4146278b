const STRING = /"(?:[^"\\]|\\.)*"/gs;

/** Replaces all strings of a JSON text, keys too. */
export function mapStrings(json: string, change: (literal: string) => string): string {
  return json.replace(STRING, change);
}

/** Replaces the string values of a JSON text, as written with their quotes; keys stay. */
export function mapTexts(json: string, change: (literal: string) => string): string {
  return json.replace(STRING, (literal, at: number) =>
    isKey(json, at + literal.length) ? literal : change(literal),
  );
}

export function mapKeys(json: string, change: (literal: string) => string): string {
  return json.replace(STRING, (literal, at: number) =>
    isKey(json, at + literal.length) ? change(literal) : literal,
  );
}

function isKey(json: string, end: number): boolean {
  return /^\s*:/.test(json.slice(end, end + 20));
}

/** Replaces what stands between the strings of a JSON text. */
export function mapBetween(json: string, change: (between: string) => string): string {
  let result = "";
  let end = 0;
  for (const { 0: literal, index } of json.matchAll(STRING)) {
    result += change(json.slice(end, index)) + literal;
    end = index + literal.length;
  }
  return result + change(json.slice(end));
}

/** Changes one of the places where `pattern` is found between the strings. */
export function changeOnce(
  json: string,
  pattern: RegExp,
  random: () => number,
  change: (found: string) => string,
): string {
  const all = new RegExp(pattern.source, "g");
  let count = 0;
  mapBetween(json, (between) => {
    count += between.match(all)?.length ?? 0;
    return between;
  });
  const chosen = Math.floor(random() * count);
  let at = 0;
  return mapBetween(json, (between) =>
    between.replace(all, (found) => {
      at += 1;
      return at - 1 === chosen ? change(found) : found;
    }),
  );
}
