import type { PendingActivity } from "../../../client/index.ts";
import type { ChatPhase } from "../step-chat.ts";
import type { ChatBlock } from "./chat-blocks.ts";

/** What the conversation waits for. */
export type ChatWait =
  | { readonly type: "user" | "stopping" | "worker" | "transcript" }
  | { readonly type: "approval"; readonly count: number }
  | { readonly type: "model"; readonly sinceMs: number }
  | { readonly type: "tools"; readonly names: readonly string[]; readonly sinceMs: number }
  | { readonly type: "vendor"; readonly vendor: string; readonly untilMs: number | undefined }
  | { readonly type: "retry"; readonly step: string; readonly attempt: number; readonly atMs: number };

/** What is known about the run. */
export type ObservedRun = {
  readonly phase: ChatPhase;
  /** The number of calls that wait for the user. */
  readonly approvals: number;
  readonly blocks: readonly ChatBlock[];
  /** When the newest recorded event arrived. */
  readonly sinceMs: number;
  readonly pending: readonly PendingActivity[];
};

export function findChatWait(run: ObservedRun, nowMs: number): ChatWait {
  const { phase, approvals, blocks, sinceMs, pending } = run;
  if (phase === "idle") return { type: "user" };
  if (phase === "stopping") return { type: "stopping" };
  if (approvals > 0) return { type: "approval", count: approvals };
  for (const step of pending) {
    const atMs = step.nextAttemptAt?.getTime();
    if (step.attempt > 1 && atMs !== undefined && atMs > nowMs)
      return { type: "retry", step: step.type, attempt: step.attempt, atMs };
    if (step.wait?.type === "store") return { type: "transcript" };
    if (step.wait !== undefined)
      return { type: "vendor", vendor: step.wait.vendor, untilMs: step.wait.untilMs };
  }
  const calls = blocks.filter((block) => block.type === "tool").filter(({ state }) => state === "running");
  if (calls.length > 0) {
    const started = calls.flatMap(({ startedAtMs }) => (startedAtMs === undefined ? [] : [startedAtMs]));
    return { type: "tools", names: calls.map(({ name }) => name), sinceMs: Math.min(sinceMs, ...started) };
  }
  if (pending.some(({ state, attempt }) => state === "scheduled" && attempt === 1)) return { type: "worker" };
  return { type: "model", sinceMs };
}

export function formatChatWait(wait: ChatWait, nowMs: number): string {
  switch (wait.type) {
    case "user":
      return "ready";
    case "stopping":
      return "stopping";
    case "worker":
      return "waits for a worker";
    case "transcript":
      return "waits for the transcript";
    case "approval":
      return wait.count === 1 ? "waits for approval" : `waits for ${wait.count} approvals`;
    case "model":
      return `model${formatSeconds(nowMs - wait.sinceMs)}`;
    case "tools":
      return `${formatNames(wait.names)}${formatSeconds(nowMs - wait.sinceMs)}`;
    case "vendor": {
      const until = wait.untilMs === undefined ? "" : formatSeconds(wait.untilMs - nowMs);
      return `waits for ${wait.vendor}${until}`;
    }
    case "retry":
      return `retry ${wait.attempt - 1} of ${wait.step} in${formatSeconds(wait.atMs - nowMs) || " 0 s"}`;
  }
}

function formatNames(names: readonly string[]): string {
  const [first = ""] = names;
  return names.length === 1 ? first : `${first} and ${names.length - 1} more`;
}

/** Formats a time of at least a second with a space before it. */
function formatSeconds(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 1) return "";
  return seconds < 60 ? ` ${seconds} s` : ` ${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
