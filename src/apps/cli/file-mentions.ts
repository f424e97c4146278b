import { statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";

// Files that a typed text names: `@FILE` attaches a file that exists, and `\@FILE` is text. The rule is the same in every
// command and in the chat. What names no file, such as `@types/node`, is text.

/** A file that a text names. `isEscaped`: a backslash keeps it from being attached. */
export type FileMention = {
  readonly start: number;
  readonly end: number;
  readonly path: string;
  readonly isEscaped: boolean;
};

/** A path after a blank or at the beginning; with quotation marks around it, it may have blanks. */
const MENTION = /(?<=^|\s)(\\?)@(?:"([^"\n]+)"|'([^'\n]+)'|(\S+))/g;
/** Marks after a path that belong to the sentence, unless such a file exists. */
const SENTENCE_END = /[.,;:!?)\]}]+$/;

export function findFileMentions(text: string, folder: string): readonly FileMention[] {
  return [...text.matchAll(MENTION)].flatMap((match): FileMention[] => {
    const [typed, backslash = "", double, single, bare = ""] = match;
    const quoted = double ?? single;
    const names = quoted === undefined ? [bare, bare.replace(SENTENCE_END, "")] : [quoted];
    const name = names.find((one) => one !== "" && isFile(resolvePath(folder, one)));
    if (name === undefined) return [];
    const end = match.index + typed.length - (quoted === undefined ? bare.length - name.length : 0);
    return [{ start: match.index, end, path: resolvePath(folder, name), isEscaped: backslash !== "" }];
  });
}

/** Returns a text as the agent reads it, and the files that it attaches, once each. */
export function readFileMentions(
  text: string,
  folder: string,
): { readonly text: string; readonly files: readonly string[] } {
  const mentions = findFileMentions(text, folder);
  const escapes = mentions.filter(({ isEscaped }) => isEscaped);
  return {
    text: escapes.reduceRight((rest, { start }) => rest.slice(0, start) + rest.slice(start + 1), text),
    files: [...new Set(mentions.flatMap(({ isEscaped, path }) => (isEscaped ? [] : [path])))],
  };
}

/** Escapes the mentions of a text that somebody else may have written, so that it attaches nothing. */
export function escapeFileMentions(text: string, folder: string): string {
  const mentions = findFileMentions(text, folder).filter(({ isEscaped }) => !isEscaped);
  return mentions.reduceRight((rest, { start }) => `${rest.slice(0, start)}\\${rest.slice(start)}`, text);
}

export function formatFileMention(path: string): string {
  if (path.includes('"')) return `@'${path}'`;
  return /[\s']/.test(path) ? `@"${path}"` : `@${path}`;
}

/**
 * Returns the path if a text is nothing but the path of a file, as terminals paste a file that is dropped on them: bare, in
 * quotation marks, with escaped blanks, or as a file: URL.
 */
export function parsePastedPath(text: string): string | undefined {
  const trimmed = text.trim();
  const [, , inner] = /^(["'])(.*)\1$/s.exec(trimmed) ?? [];
  const path =
    inner ?? (trimmed.startsWith("file://") ? parseFileUrl(trimmed) : trimmed.replace(/\\(.)/g, "$1"));
  if (path === undefined || path.includes("\n")) return undefined;
  const expanded = expandHome(path);
  return isAbsolute(expanded) && isFile(expanded) ? expanded : undefined;
}

function parseFileUrl(text: string): string | undefined {
  try {
    return fileURLToPath(text);
  } catch {
    return undefined;
  }
}

export function resolvePath(folder: string, path: string): string {
  return resolve(folder, expandHome(path));
}

function expandHome(path: string): string {
  return path.startsWith("~/") ? resolve(homedir(), path.slice(2)) : path;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
