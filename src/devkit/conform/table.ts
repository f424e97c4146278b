import type { Replayed } from "./replay.ts";

/** Of an id and of what was said, in characters: a line fits a screen. */
const ID_CHARS = 56;
const SAID_CHARS = 60;

/** Our failures, not the vendor's. */
const UNDONE: ReadonlySet<unknown> = new Set(["no-adapter", "unreadable", "crashed"]);

/** One line for people. */
export function tableLine({ id, protocol, ok, message, usage, stopReason, error }: Replayed): string {
  const name = cut(id, ID_CHARS).padEnd(ID_CHARS);
  const said =
    error === undefined
      ? (message?.content ?? [])
          .map((part) =>
            part.type === "text" ? part.text : part.type === "toolCall" ? `${part.name}()` : "",
          )
          .join(" ")
      : error.message;
  const result = error === undefined ? (stopReason ?? "") : error.fault;
  const tokens = usage === undefined ? `${error?.status ?? ""}` : `${usage.totalTokens}`;
  const line = said.replace(/\s+/g, " ").trim();
  return [
    ok ? "ok   " : UNDONE.has(error?.fault) ? "FAIL " : "error",
    protocol.padEnd(23),
    result.padEnd(12),
    tokens.padStart(7),
    name,
    cut(line, SAID_CHARS),
  ].join("  ");
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
