/**
 * Breaks the sentences of a help text at the terminal's width. Indented lines stay: options and tables are wrapped already,
 * and an example is copied as one line.
 */
export function wrapHelp(text: string, width: number): string {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const last = lines.at(-1) ?? "";
    // A sentence that goes on in the next line is one paragraph.
    const isContinued = isSentence(last) && isSentence(line) && !/[.:]$/.test(last);
    if (isContinued) lines[lines.length - 1] = `${last} ${line}`;
    else lines.push(line);
  }
  return lines.map((line) => (isSentence(line) ? wrapLine(line, width) : line)).join("\n");
}

function isSentence(line: string): boolean {
  return /^\S/.test(line) && !line.startsWith("Usage:");
}

function wrapLine(line: string, width: number): string {
  const lines: string[] = [];
  for (const word of line.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join("\n");
}
