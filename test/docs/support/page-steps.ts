/** What a reader of a page does: saves a file, runs commands, or compares what the last commands printed. */
export type PageStep =
  | { readonly type: "save"; readonly file: string; readonly text: string }
  | { readonly type: "run"; readonly commands: string; readonly note: string | undefined }
  | { readonly type: "compare"; readonly lines: readonly string[] };

/** A note in a comment, such as `<!-- in the second terminal -->`, then a block. */
const BLOCK = /(?:<!-- (?<note>[^\n]+) -->\n)?```(?<language>\w+)\n(?<text>[\s\S]*?)```/g;

/** Lists the steps of a page in order. A block of code belongs to the file that the text before it names. */
export function listSteps(page: string): readonly PageStep[] {
  return [...page.matchAll(BLOCK)].map(({ groups = {}, index }): PageStep => {
    const { note, language, text = "" } = groups;
    if (language === "sh") return { type: "run", commands: text, note };
    if (language === "text") return { type: "compare", lines: text.trimEnd().split("\n") };
    const [file] = [...page.slice(0, index).matchAll(/this as `([^`]+)`/g)].map(([, name]) => name).slice(-1);
    if (file === undefined) throw new Error(`the page does not say where to save:\n${text}`);
    return { type: "save", file, text };
  });
}

/** Returns the lines that an output lacks, or has only before the line that precedes them. `…` stands for any text. */
export function findMissingLines(expected: readonly string[], output: string): readonly string[] {
  let rest = output.split("\n");
  return expected.filter((line) => {
    const escaped = line.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const pattern = new RegExp(`^${escaped.replaceAll("…", ".*")}$`);
    const at = rest.findIndex((one) => pattern.test(one.trim()));
    if (at >= 0) rest = rest.slice(at + 1);
    return at < 0;
  });
}
