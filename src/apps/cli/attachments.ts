import { statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { FilePart, Prompt } from "../../client/index.ts";
import type { Context } from "./context.ts";

// The images and files of a prompt on the command line: `--attach FILE`, and `@FILE` in its text.

export const ATTACH_OPTION = [
  "--attach <file>",
  "attach an image, a PDF document or a text file; repeatable",
  (file: string, before: readonly string[] = []): readonly string[] => [...before, file],
] as const;

export type AttachFlag = { readonly attach?: readonly string[] };

export const MENTION_HELP =
  'In a terminal, @FILE in the text attaches that file, if it exists: @photo.png, @"my plan.pdf". Scripts use --attach.';

/** A path after a blank or at the beginning; with quotation marks around it, it may have blanks. */
const MENTION = /(?<=^|\s)@(?:"([^"\n]+)"|'([^'\n]+)'|(\S+))/g;
/** Marks after a path that belong to the sentence, unless such a file exists. */
const SENTENCE_END = /[.,;:!?)\]}]+$/;

/**
 * Builds a prompt with the files of `--attach`, and those that its text names.
 *
 * Text names files only if a user types it: text from a pipe, or that a script puts together, may come from anyone, and would
 * otherwise send any file of this machine to a model.
 *
 * @param isTyped - Whether the text is from the arguments, not from standard input.
 */
export function buildPrompt(
  context: Context,
  text: string,
  { attach = [] }: AttachFlag,
  isTyped = true,
): Prompt {
  const { stdin } = context.streams;
  const canMention = isTyped && stdin.isTTY === true && !context.json;
  const named = canMention ? findMentionedFiles(text, process.cwd()) : [];
  for (const path of named) context.report(context.err.dim(`attached ${path}`));
  const given = attach.map((path) => resolve(process.cwd(), expandHome(path)));
  const files = [...new Set([...named, ...given])].map((path): FilePart => ({ type: "file", path }));
  if (files.length === 0) return text;
  return [...(text.trim() === "" ? [] : [{ type: "text" as const, text }]), ...files];
}

/** Finds the files that a text names as `@FILE`, once each. A word that names no file, such as `@types/node`, is text. */
export function findMentionedFiles(text: string, folder: string): readonly string[] {
  const found = [...text.matchAll(MENTION)].flatMap(([, double, single, bare]) => {
    const quoted = double ?? single;
    const names = quoted === undefined ? [bare ?? "", (bare ?? "").replace(SENTENCE_END, "")] : [quoted];
    const path = names.map((name) => resolve(folder, expandHome(name))).find(isFile);
    return path === undefined ? [] : [path];
  });
  return [...new Set(found)];
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
