import { z } from "zod";
import type { Entry } from "../../../client/index.ts";
import type { ChangeSource } from "../changes/change-set.ts";
import { DELEGATION_TOOLS } from "../tools/registry.ts";

// What the record of an agent says about the hunks that it has seen.

const ShownDetails = z.object({
  source: z.discriminatedUnion("type", [
    z.object({ type: z.literal("staged") }),
    z.object({ type: z.literal("unstaged") }),
    z.object({ type: z.literal("commits"), from: z.string(), to: z.string() }),
  ]),
  hunks: z.object({ shown: z.array(z.string()) }),
});

const NoteDetails = z.object({
  operation: z.object({ type: z.literal("add-note"), text: z.string() }),
});

/** A call by which an agent has given work to a sub-agent. */
export type Delegation = {
  readonly name: string;
  /** The beginning of the task. */
  readonly task: string;
  /** The session of the sub-agent; absent if it has never begun. */
  readonly session?: string;
  /** `late`: it reached a limit of its time, turns or tokens. `lost`: it failed, was stopped or has died. */
  readonly status: "ended" | "late" | "lost";
  /** Why it has not finished. */
  readonly reason?: string;
};

export type CoverageFacts = {
  /** Hunks that were shown whole, with the change that they are of. */
  readonly shown: readonly { readonly source: ChangeSource; readonly hunks: readonly string[] }[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** In the order of the calls. */
  readonly delegations: readonly Delegation[];
};

/** How a model skips files explicitly: by a note in its workspace. */
const SKIP_NOTE = /^SKIP\s+(\S.*?):\s+(\S.*)$/;
/** What Holdfast appends to the report of a sub-agent that has reached a limit. */
const STOPPED = /\[Sub-agent stopped: (.*)\]\s*$/s;
const MAX_TASK_CHARS = 80;

/** Reads the record of an agent. A staged change has no id: of one that moved, pass only what came after. */
export function readCoverageFacts(entries: readonly Entry[]): CoverageFacts {
  const shown: CoverageFacts["shown"][number][] = [];
  const skipped: CoverageFacts["skipped"][number][] = [];
  const delegations: Delegation[] = [];
  const tasks = new Map<string, string>();
  for (const { message } of entries) {
    if (message.role === "assistant") {
      for (const part of message.content)
        if (part.type === "toolCall") tasks.set(part.id, readTask(part.arguments));
      continue;
    }
    if (message.role !== "toolResult") continue;
    const { toolName, toolCallId, details, isError } = message;
    if ((DELEGATION_TOOLS as readonly string[]).includes(toolName)) {
      const nth = delegations.length + 1;
      const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      const session = message.childLoopId?.replace(/\.sub\.\d+$/, "");
      delegations.push({
        name: `${toolName} ${nth}`,
        task: tasks.get(toolCallId) ?? "",
        ...(session === undefined ? {} : { session }),
        ...readEnding(text, isError),
      });
      continue;
    }
    if (isError) continue;
    const diff = ShownDetails.safeParse(details);
    if (diff.success) shown.push({ source: diff.data.source, hunks: diff.data.hunks.shown });
    const note = toolName === "workspace" ? NoteDetails.safeParse(details) : undefined;
    for (const line of note?.data?.operation.text.split("\n") ?? []) {
      const [, path, reason] = SKIP_NOTE.exec(line.trim()) ?? [];
      if (path !== undefined && reason !== undefined) skipped.push({ path, reason });
    }
  }
  return { shown, skipped, delegations };
}

function readTask(value: unknown): string {
  const task = (value as { readonly task?: unknown } | null)?.task;
  const line = typeof task === "string" ? task.trim().replace(/\s+/g, " ") : "";
  return line.length > MAX_TASK_CHARS ? `${line.slice(0, MAX_TASK_CHARS - 1)}…` : line;
}

function readEnding(text: string, isError: boolean): Pick<Delegation, "status" | "reason"> {
  const stopped = STOPPED.exec(text)?.[1];
  if (stopped !== undefined) return { status: "late", reason: stopped };
  if (!isError) return { status: "ended" };
  const last = text.trim().split("\n").at(-1) ?? "";
  return { status: "lost", reason: last === "" ? "it ended without a result" : last };
}
