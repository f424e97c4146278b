/** A line of a text, without its ending. */
export type NumberedLine = { readonly line: number; readonly text: string };

/** A longer line is no case: it would be as long as all the context of a large model. */
const MAX_LINE_CHARS = 16 * 1024 * 1024;

/**
 * Splits a text that arrives in chunks into lines, at LF and CRLF alone: a JSON text may contain the line separators of
 * Unicode. Removes a byte order mark. Holds one line at a time.
 */
export async function* readLines(chunks: AsyncIterable<string>): AsyncGenerator<NumberedLine> {
  let line = 0;
  let rest = "";
  for await (const chunk of chunks) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop()!;
    for (const part of parts) {
      line += 1;
      yield { line, text: trimEnding(part, line) };
    }
    if (rest.length > MAX_LINE_CHARS)
      throw new RangeError(`line ${line + 1} has more than ${MAX_LINE_CHARS} characters, the maximum`);
  }
  if (rest !== "") yield { line: line + 1, text: trimEnding(rest, line + 1) };
}

function trimEnding(text: string, line: number): string {
  const start = line === 1 && text.startsWith("\uFEFF") ? 1 : 0;
  return text.slice(start, text.endsWith("\r") ? -1 : undefined);
}
