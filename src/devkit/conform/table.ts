import { truncateText } from "../../platform/text/truncate-text.ts";
import type { ReplayResult } from "./replay.ts";

/** The maximum characters of an id and of a message, so that a line fits the screen. */
const ID_CHARS = 56;
const TEXT_CHARS = 60;

/** Faults of Holdfast, not of the vendor. */
const OWN_FAILURES: ReadonlySet<unknown> = new Set(["no-adapter", "unreadable", "crashed"]);

/** Formats a result as one readable line. */
export function formatRow({ id, protocol, ok, message, usage, stopReason, error }: ReplayResult): string {
  const name = truncateText(id, ID_CHARS).padEnd(ID_CHARS);
  const text =
    error === undefined
      ? (message?.content ?? [])
          .map((part) =>
            part.type === "text" ? part.text : part.type === "toolCall" ? `${part.name}()` : "",
          )
          .join(" ")
      : error.message;
  const result = error === undefined ? (stopReason ?? "") : error.fault;
  const tokens = usage === undefined ? `${error?.status ?? ""}` : `${usage.totalTokens}`;
  const line = text.replace(/\s+/g, " ").trim();
  return [
    ok ? "ok   " : OWN_FAILURES.has(error?.fault) ? "FAIL " : "error",
    protocol.padEnd(23),
    result.padEnd(12),
    tokens.padStart(7),
    name,
    truncateText(line, TEXT_CHARS),
  ].join("  ");
}
