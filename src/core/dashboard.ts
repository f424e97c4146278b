import { dollars } from "./limits.ts";
import { truncateForPreview } from "./preview.ts";
import type { State } from "./state.ts";
import { statusOf } from "./status.ts";

/** Nine rows stay under 2 KiB. */
const ROW_BYTES = 350;

/** The run as an operator reads it in the Temporal UI: Markdown, under 2 KiB (the server's bound is 20,000 bytes). */
export function dashboard(state: State): string {
  const status = statusOf(state);
  const limit = state.pinned?.limits.maxTurns;
  const rows = [
    ["Status", `**${status.status}** · ${status.doing}`],
    ["Goal", status.goal || "none yet"],
    ["Agent", status.agent ?? "not opened yet"],
    ["Model", status.model ?? "not opened yet"],
    ["Turns", `${status.turns}${limit == null ? "" : ` of ${limit} a loop`}`],
    ["Cost", dollars(status.costUsd)],
    ["Context", `about ${status.contextTokens} tokens`],
    ["Queued", `${status.queued.steering} steering, ${status.queued.followUps} follow-up`],
    ["Last words", status.lastText || "none yet"],
  ] as const;
  return rows.map(([name, value]) => `- **${name}**: ${oneLine(value)}`).join("\n");
}

function oneLine(text: string): string {
  return truncateForPreview(text.replace(/\s+/g, " "), ROW_BYTES);
}
