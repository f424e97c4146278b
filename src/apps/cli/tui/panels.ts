import { statSync } from "node:fs";
import { basename } from "node:path";
import { formatSize } from "../../../core/view/attachment.ts";
import type { ApprovalSelector } from "../chat/approval-selector.ts";
import type { HistorySearch } from "../chat/history-search.ts";
import type { ChatTheme } from "./chat-theme.ts";
import { sanitizeText } from "./line-guard.ts";
import { type Component, truncateToWidth, wrapTextWithAnsi } from "./pi-tui.ts";

// What is displayed between the conversation and the editor.

/** A component whose lines a function computes from the present state. */
export class Panel implements Component {
  readonly #format: (width: number) => readonly string[];

  constructor(format: (width: number) => readonly string[]) {
    this.#format = format;
  }

  render(width: number): string[] {
    return [...this.#format(Math.max(1, width))];
  }

  invalidate(): void {}
}

export type OpenQuestion = {
  /** The lines of the question, as they are displayed for approval. */
  readonly lines: readonly string[];
  readonly selector: ApprovalSelector;
  /** Whether keys select an answer; otherwise they go to the editor. */
  readonly hasFocus: boolean;
};

export function formatQuestion(question: OpenQuestion, theme: ChatTheme, width: number): readonly string[] {
  const { options, selected } = question.selector;
  const { cyan, bold, dim } = theme;
  const rows = options.map(({ label }, index) => {
    const text = truncateToWidth(`${index + 1} ${label.replaceAll("\n", " ")}`, Math.max(1, width - 2), "…");
    if (index !== selected) return question.hasFocus ? `  ${text}` : dim(`  ${text}`);
    return question.hasFocus ? bold(cyan(`→ ${text}`)) : dim(`→ ${text}`);
  });
  const hint = question.hasFocus
    ? "↑↓ or a letter, then Enter. Other text is a message to the agent (Tab)."
    : "Tab: answer the question. Enter sends the message to the agent.";
  return [
    "",
    ...question.lines.flatMap((line) => wrapTextWithAnsi(line, width)),
    ...rows,
    ...wrapTextWithAnsi(dim(hint), width),
  ];
}

/** Formats the messages that the agent has not read yet. */
export function formatPendingMessages(
  texts: readonly string[],
  theme: ChatTheme,
  width: number,
): readonly string[] {
  if (texts.length === 0) return [];
  const lines = texts.map((text) =>
    theme.dim(truncateToWidth(`» ${sanitizeText(text).replaceAll("\n", " ")}`, width, "…")),
  );
  return ["", ...lines];
}

/** Formats the files that the message in the editor attaches. */
export function formatAttachments(
  paths: readonly string[],
  theme: ChatTheme,
  width: number,
): readonly string[] {
  if (paths.length === 0) return [];
  const names = paths.map((path) => `${basename(path)} (${formatFileSize(path)})`);
  const text = sanitizeText(
    `attached: ${names.join(" · ")} — Ctrl-X removes ${paths.length > 1 ? "the last" : "it"}`,
  );
  return wrapTextWithAnsi(text, width).map((line) => theme.cyan(line));
}

function formatFileSize(path: string): string {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size;
  return bytes === undefined ? "missing" : formatSize(bytes);
}

const SEARCH_ROWS = 8;

export function formatSearch(
  { query, found, selected }: HistorySearch,
  theme: ChatTheme,
  width: number,
): readonly string[] {
  const { cyan, bold, dim } = theme;
  const first = Math.max(0, Math.min(selected - SEARCH_ROWS + 1, found.length - SEARCH_ROWS));
  const rows = found.slice(first, first + SEARCH_ROWS).map((text, index) => {
    const line = truncateToWidth(sanitizeText(text).replaceAll("\n", " "), Math.max(1, width - 2), "…");
    return first + index === selected ? bold(cyan(`→ ${line}`)) : `  ${line}`;
  });
  return [
    "",
    truncateToWidth(`${dim("search earlier messages:")} ${sanitizeText(query)}`, width, "…"),
    ...(rows.length === 0 ? [dim("  no message contains these words")] : rows),
    ...wrapTextWithAnsi(dim("Enter: edit it · Ctrl-R: older · Esc: back"), width),
  ];
}
