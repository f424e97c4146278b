import { type ChangeSet, type ChangeSource, describeLines, explainNoLines } from "../changes/change-set.ts";
import { readChangeSet } from "../changes/read-change-set.ts";
import type { RankedFile } from "../changes/relevance.ts";
import { describeGuidance, type SizeClass } from "../changes/size-class.ts";
import type { Repository } from "../repository/repository.ts";
import { toVisibleName, toVisibleText } from "../text/visible-text.ts";

// An answer has at most 60,000 characters (define-git-tool.ts). Each part has a bound of its own, so that the whole is never
// cut: what is shown of a change set is known where its text is written.

/** The most text of diffs in one answer, in characters: about 11,000 tokens. */
const MAX_DIFF_CHARS = 45_000;
/** More files in one answer are only counted. */
const MAX_LISTED_FILES = 300;
/** The most text of a list of files: paths may be long. */
const MAX_LIST_CHARS = 12_000;

/** What was shown of a change set, by the ids of its hunks: the coverage ledger is written from it. */
export type ShownHunks = {
  /** Shown whole. */
  readonly shown: readonly string[];
  /** Shown in part, or not at all. */
  readonly left: readonly string[];
};

export function formatSummary(changes: ChangeSet, size: SizeClass, total: ChangeSet): string {
  const { files, added, deleted } = changes;
  const count =
    size === "filtered" ? `${files.length} of ${total.files.length} files` : `${files.length} files`;
  const word = `${size[0]?.toUpperCase()}${size.slice(1)}`;
  return [
    "=== CHANGES SUMMARY ===",
    `${count} | +${added} -${deleted} | Size: ${word} (${added + deleted} lines)`,
    `Guidance: ${describeGuidance(size, total)}`,
  ].join("\n");
}

/** Lists files by relevance. */
export function formatRanking(files: readonly RankedFile[]): string {
  const lines = listFiles(files, MAX_LIST_CHARS, ({ file, relevance: { percent, reasons } }) => {
    const name =
      file.previousPath === undefined
        ? toVisibleName(file.path)
        : `${toVisibleName(file.previousPath)} -> ${toVisibleName(file.path)}`;
    const why = reasons.length === 0 ? "" : ` (${reasons.join(", ")})`;
    return `  [${percent}%] ${file.change} ${name} ${describeLines(file)}, ${file.hunks.length} hunks${why}`;
  });
  const left = files.length - lines.length;
  const more = left > 0 ? [`  ... and ${left} more; git_changed_files lists them all in parts`] : [];
  return ["Files by relevance:", ...lines, ...more].join("\n");
}

/** Writes a line for each file, as many as there is room for. */
export function listFiles<File>(
  files: readonly File[],
  maxChars: number,
  format: (file: File) => string,
): readonly string[] {
  const lines = files.slice(0, MAX_LISTED_FILES).map(format);
  let chars = 0;
  const end = lines.findIndex((line) => {
    chars += line.length + 1;
    return chars > maxChars;
  });
  return end === -1 ? lines : lines.slice(0, end);
}

/**
 * Writes the diffs of files in their order, as many hunks as the answer has room for, and names what is left out.
 *
 * @param firstHunk - Where to begin in the hunks of all these files together; counts from 1.
 */
export async function formatDiffs(
  repository: Repository,
  source: ChangeSource,
  files: readonly RankedFile[],
  firstHunk = 1,
): Promise<{ readonly text: string; readonly hunks: ShownHunks }> {
  const ids = files.flatMap(({ file }) => file.hunks.map(({ id }) => id));
  const chosen = chooseFiles(files, firstHunk);
  const texts = new Map<string, { lines: string[]; chars: number; isCut: boolean }>();
  if (chosen.length > 0) {
    const paths = chosen.flatMap(({ file: { path, previousPath } }) =>
      previousPath === undefined ? [path] : [path, previousPath],
    );
    await readChangeSet(repository, source, {
      paths,
      onLine: (_, id, line, isCut) => {
        const text = texts.get(id) ?? { lines: [], chars: 0, isCut: false };
        texts.set(id, text);
        text.isCut ||= isCut || text.chars > MAX_DIFF_CHARS;
        if (text.chars > MAX_DIFF_CHARS) return;
        const visible = toVisibleText(isCut ? `${line} [... line cut]` : line);
        text.chars += visible.length + 1;
        text.lines.push(visible);
      },
    });
  }
  const parts: string[] = [];
  const shown: string[] = [];
  let room = MAX_DIFF_CHARS;
  let nth = 0;
  for (const { file, relevance } of files) {
    const header = `--- ${toVisibleName(file.path)} [${relevance.percent}% relevance]`;
    const body: string[] = [];
    const add = (text: string) => {
      room -= text.length + 1 + (body.length === 0 ? header.length + 1 : 0);
      body.push(text);
    };
    for (const { id } of file.hunks) {
      nth += 1;
      const text = texts.get(id);
      if (nth < firstHunk || text === undefined) continue;
      const lines = text.lines.join("\n");
      const left = body.length === 0 ? room - header.length - 2 : room - 1;
      const isFirst = parts.length + body.length === 0;
      if (lines.length > left && !isFirst) continue;
      if (lines.length <= left && !text.isCut) shown.push(id);
      add(lines.length > left ? `${lines.slice(0, left)}\n[... hunk cut]` : lines);
    }
    if (file.hunks.length === 0) {
      const note = `(${explainNoLines(file) ?? "no changed lines"})`;
      if (header.length + note.length + 2 <= room) add(note);
    }
    if (body.length > 0) parts.push(header, ...body);
  }
  const isShown = new Set(shown);
  const left = ids.filter((id, at) => at + 1 >= firstHunk && !isShown.has(id));
  return { text: ["=== DIFFS ===", ...parts, ...describeLeft(left, ids)].join("\n"), hunks: { shown, left } };
}

/** What a file and a hunk take at least, beside their names and lines: an estimate, to read only files that may have room. */
const FILE_CHARS = 25;
const HUNK_CHARS = 12;

/** Chooses the files whose hunks may have room. */
function chooseFiles(files: readonly RankedFile[], firstHunk: number): readonly RankedFile[] {
  const chosen: RankedFile[] = [];
  let chars = 0;
  let nth = 0;
  for (const ranked of files) {
    const { hunks } = ranked.file;
    nth += hunks.length;
    if (hunks.length === 0 || nth < firstHunk) continue;
    if (chars > MAX_DIFF_CHARS) break;
    chosen.push(ranked);
    const sizes = hunks.map(({ oldLines, newLines }) => HUNK_CHARS + Math.max(oldLines, newLines));
    chars += sizes.reduce((sum, size) => sum + size, FILE_CHARS + ranked.file.path.length);
  }
  return chosen;
}

function describeLeft(left: readonly string[], ids: readonly string[]): readonly string[] {
  const [next] = left;
  if (next === undefined) return [];
  const nth = ids.indexOf(next) + 1;
  return [
    `[${left.length} of ${ids.length} hunks are not shown whole, the first is hunk ${nth} in ${toVisibleName(next.replace(/:\d+$/, ""))}. ` +
      `Call again with files=[...] for some of them, or with from_hunk=${nth}; read a hunk that is too long with file_read]`,
  ];
}
