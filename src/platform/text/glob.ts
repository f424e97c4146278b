import { assertNever } from "./assert-never.ts";

// Globs with `*`, `**`, `?` and nothing else. All alternatives are matched in parallel, so that the time is at most
// the length of the pattern times the length of the text.

type Token =
  | { readonly type: "letter"; readonly letter: string }
  /** `?`: one character except `/`. */
  | { readonly type: "one" }
  /** `*`: any characters except `/`. */
  | { readonly type: "run" }
  /** `**`: any characters. */
  | { readonly type: "all" }
  /** `**` and `/` at the beginning of a path part: any number of whole folders. */
  | { readonly type: "folders" };

/** Checks whether the pattern matches the whole path. */
export function matchPathGlob(pattern: string, path: string): boolean {
  const trimmed = pattern.startsWith("./") ? pattern.slice(2) : pattern;
  const whole = trimmed.endsWith("/") ? `${trimmed}**` : trimmed;
  if (matchTokens(parsePathTokens(whole), path)) return true;
  return whole.endsWith("/**") && matchTokens(parsePathTokens(whole.slice(0, -3)), path);
}

/** Checks whether the pattern matches the whole name. A `/` is an ordinary character here. */
export function matchNameGlob(pattern: string, name: string): boolean {
  const tokens = [...pattern].map(
    (letter): Token => (letter === "*" ? { type: "all" } : letter === "?" ? ANY : { type: "letter", letter }),
  );
  return matchTokens(tokens, name, "");
}

const ANY: Token = { type: "one" };

function parsePathTokens(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let i = 0; i < pattern.length; ) {
    const rest = pattern.slice(i);
    const begins = i === 0 || pattern[i - 1] === "/";
    if (begins && rest.startsWith("**/")) {
      tokens.push({ type: "folders" });
      i += 3;
    } else if (rest.startsWith("**")) {
      tokens.push({ type: "all" });
      i += 2;
    } else {
      const letter = String.fromCodePoint(rest.codePointAt(0) as number);
      if (letter === "*") tokens.push({ type: "run" });
      else if (letter === "?") tokens.push(ANY);
      else tokens.push({ type: "letter", letter });
      i += letter.length;
    }
  }
  return tokens;
}

function matchTokens(tokens: readonly Token[], text: string, separator = "/"): boolean {
  let states = new Set<number>();
  enterState(tokens, 0, states);
  for (const letter of text) {
    const next = new Set<number>();
    for (const place of states) {
      const token = tokens[place];
      if (token !== undefined) stepState(tokens, place, token, letter, separator, next);
    }
    if (next.size === 0) return false;
    states = next;
  }
  return states.has(tokens.length);
}

/** Adds the state before a token, and the state after it if the token can match nothing. */
function enterState(tokens: readonly Token[], state: number, states: Set<number>): void {
  for (let at = state; ; at += 1) {
    states.add(at);
    const type = tokens[at]?.type;
    if (type === undefined || type === "letter" || type === "one") return;
  }
}

function stepState(
  tokens: readonly Token[],
  state: number,
  token: Token,
  letter: string,
  separator: string,
  next: Set<number>,
): void {
  switch (token.type) {
    case "letter":
      if (letter === token.letter) enterState(tokens, state + 1, next);
      return;
    case "one":
      if (letter !== separator) enterState(tokens, state + 1, next);
      return;
    case "run":
      if (letter !== separator) enterState(tokens, state, next);
      return;
    case "all":
      enterState(tokens, state, next);
      return;
    case "folders":
      next.add(state);
      if (letter === separator) enterState(tokens, state + 1, next);
      return;
    default:
      assertNever(token);
  }
}
