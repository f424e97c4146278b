/** The output of a call, of which the beginning and the end are kept. */
export type ToolOutput = {
  /** The first lines, without the last, unfinished one while there is no tail. */
  readonly head: string;
  /** The last characters, if not all is in the head. */
  readonly tail: string;
  readonly chars: number;
  /** Complete lines, and the unfinished one. */
  readonly lines: number;
};

/** The beginning is what an ended call displays, expanded too; the end is what a running call displays. */
export const MAX_HEAD_CHARS = 32_000;
const MAX_TAIL_CHARS = 8_000;

export const EMPTY_OUTPUT: ToolOutput = { head: "", tail: "", chars: 0, lines: 0 };

export function appendOutput(output: ToolOutput, text: string): ToolOutput {
  if (text === "") return output;
  const room = MAX_HEAD_CHARS - output.head.length;
  const head = output.head + text.slice(0, room);
  const rest = text.slice(room);
  const endedLine = output.chars === 0 || (output.tail === "" ? output.head : output.tail).endsWith("\n");
  return {
    head,
    tail: (output.tail + rest).slice(-MAX_TAIL_CHARS),
    chars: output.chars + text.length,
    lines: output.lines + countLines(text) - (endedLine ? 0 : 1),
  };
}

/** @returns The first lines, and how many further lines there are. */
export function getFirstLines(output: ToolOutput, count: number): { lines: readonly string[]; more: number } {
  const lines = splitLines(output.head).slice(0, count);
  return { lines, more: Math.max(0, output.lines - lines.length) };
}

/** @returns The last lines, and how many lines are before them. */
export function getLastLines(output: ToolOutput, count: number): { lines: readonly string[]; more: number } {
  const lines = splitLines((output.head + output.tail).slice(-MAX_TAIL_CHARS)).slice(-count);
  return { lines, more: Math.max(0, output.lines - lines.length) };
}

function countLines(text: string): number {
  return splitLines(text).length;
}

function splitLines(text: string): readonly string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}
