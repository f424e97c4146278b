// The words of a stream of Server-Sent Events (WHATWG HTML, section 9.2).

/** How long a client waits before it comes back. */
export const RETRY_MS = 1_000;

export type Frame = {
  /** What `Last-Event-ID` says when the client comes back. */
  readonly id?: string;
  /** `message` unless said. */
  readonly event?: string;
  readonly data: unknown;
};

/** One event. JSON has no line breaks, so that its data is one line. */
export function formatFrame({ id, event, data }: Frame): string {
  const head = [
    ...(id === undefined ? [] : [`id: ${toOneLine(id)}\n`]),
    ...(event === undefined ? [] : [`event: ${toOneLine(event)}\n`]),
  ].join("");
  return `${head}data: ${JSON.stringify(data)}\n\n`;
}

/** What no client shows: it keeps a connection open, or says to a person why it ends. */
export function formatComment(text: string): string {
  return `: ${toOneLine(text)}\n\n`;
}

export function formatRetry(ms: number): string {
  return `retry: ${ms}\n\n`;
}

function toOneLine(text: string): string {
  return text.replace(/[\r\n\0]+/g, " ");
}
