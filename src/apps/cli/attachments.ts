import type { FilePart, Prompt } from "../../client/index.ts";
import type { Context } from "./context.ts";
import { readFileMentions, resolvePath } from "./file-mentions.ts";

// The images and files of a prompt on the command line: `--attach FILE`, and `@FILE` in its text.

export const ATTACH_OPTION = [
  "--attach <file>",
  "attach an image, a PDF document or a text file; repeatable",
  (file: string, before: readonly string[] = []): readonly string[] => [...before, file],
] as const;

export type AttachFlag = { readonly attach?: readonly string[] };

export const MENTION_HELP =
  'In a terminal, @FILE in the text attaches that file, if it exists: @photo.png, @"my plan.pdf". \\@FILE stays text. ' +
  "Scripts use --attach.";

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
  const read = canMention ? readFileMentions(text, process.cwd()) : { text, files: [] };
  for (const path of read.files) context.report(context.err.dim(`attached ${path}`));
  const given = attach.map((path) => resolvePath(process.cwd(), path));
  return buildPromptWithFiles(read.text, [...read.files, ...given]);
}

/** Builds a prompt of a text and files, once each. */
export function buildPromptWithFiles(text: string, paths: readonly string[]): Prompt {
  const files = [...new Set(paths)].map((path): FilePart => ({ type: "file", path }));
  if (files.length === 0) return text;
  return [...(text.trim() === "" ? [] : [{ type: "text" as const, text }]), ...files];
}
