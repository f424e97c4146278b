// The text format of Server-Sent Events (WHATWG HTML, section 9.2).

/** How long a client waits before it reconnects. */
export const RETRY_MS = 1_000;

export type Frame = {
  /** The value of `Last-Event-ID` when the client reconnects. */
  readonly id?: string;
  /** `message` by default. */
  readonly event?: string;
  readonly data: unknown;
};

/** Formats one event. JSON has no line breaks, so that its data is one line. */
export function formatFrame({ id, event, data }: Frame): string {
  const head = [
    ...(id === undefined ? [] : [`id: ${toOneLine(id)}\n`]),
    ...(event === undefined ? [] : [`event: ${toOneLine(event)}\n`]),
  ].join("");
  return `${head}data: ${JSON.stringify(data)}\n\n`;
}

/** Formats a comment. No client displays it: it holds a connection open, or informs a developer why it ends. */
export function formatComment(text: string): string {
  return `: ${toOneLine(text)}\n\n`;
}

export function formatRetry(ms: number): string {
  return `retry: ${ms}\n\n`;
}

function toOneLine(text: string): string {
  return text.replace(/[\r\n\0]+/g, " ");
}
