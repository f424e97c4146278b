import { randomBytes } from "node:crypto";

/** Precedes each of the program's own control sequences on the way to `output.ts`; text from outside cannot contain it. */
const MARK = `\uFDD0${randomBytes(8).toString("hex")}\uFDD1`;

const ESCAPE = String.fromCodePoint(27);
const BEL = String.fromCodePoint(7);

/** Colours, and images in the protocols of kitty and iTerm2: control sequences that contain no others. */
const SEQUENCES = [
  `${ESCAPE}\\[\\d+m`,
  `${ESCAPE}_G[^${ESCAPE}]*${ESCAPE}\\\\`,
  `${ESCAPE}\\]1337;File=[^${ESCAPE}${BEL}]*${BEL}`,
];

/** Matches the program's own control sequences; splitting by it gives texts and sequences alternately. */
export const MARKED_SEQUENCE = new RegExp(`${MARK}(${SEQUENCES.join("|")})`);

/** Marks a control sequence of the program itself, so that it reaches the terminal. */
export function markSequence(sequence: string): string {
  return `${MARK}${sequence}`;
}

/** Returns a text without the program's own colours and images. */
export function stripPaint(text: string): string {
  return text.replace(new RegExp(MARKED_SEQUENCE, "g"), "");
}

/** Functions that colour text for one stream, or return it unchanged. */
export type Palette = Readonly<
  Record<"dim" | "bold" | "red" | "green" | "yellow" | "cyan", (text: string) => string>
>;

/** Codes of ECMA-48, "select graphic rendition": on and off. */
const CODES = {
  dim: [2, 22],
  bold: [1, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const satisfies Record<keyof Palette, readonly [number, number]>;

/** Creates a palette with colours on a terminal; `NO_COLOR` and `FORCE_COLOR` override that (https://no-color.org). */
export function createPalette(
  stream: { readonly isTTY?: boolean | undefined },
  env: NodeJS.ProcessEnv,
): Palette {
  const coloured = isColoured(stream, env);
  const paint =
    ([on, off]: readonly [number, number]) =>
    (text: string): string =>
      coloured && text !== "" ? `${MARK}\u001b[${on}m${text}${MARK}\u001b[${off}m` : text;
  return {
    dim: paint(CODES.dim),
    bold: paint(CODES.bold),
    red: paint(CODES.red),
    green: paint(CODES.green),
    yellow: paint(CODES.yellow),
    cyan: paint(CODES.cyan),
  };
}

/** Whether output is coloured: on a terminal, unless `NO_COLOR` or `FORCE_COLOR` says otherwise. */
export function isColoured(
  stream: { readonly isTTY?: boolean | undefined },
  env: NodeJS.ProcessEnv,
): boolean {
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

/** Colours and cursor movements: ECMA-48, "control sequences". */
const CONTROL_SEQUENCE = new RegExp(`${ESCAPE}\\[[0-9;?]*[ -/]*[@-~]`, "g");

/** C1 controls, which some terminals act on, and controls of the writing direction. */
const BIDI_AND_C1_CONTROLS = /[\u0080-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Makes text from outside safe for a terminal: removes control characters except line feeds and tabs, and writes
 * characters that could change the reading order as their code.
 */
export function stripControls(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(CONTROL_SEQUENCE, "")
    .replace(BIDI_AND_C1_CONTROLS, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replace(/\p{Cc}/gu, (character) => (character === "\n" || character === "\t" ? character : ""));
}
