import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { InboundMessage } from "./state/inbound-message.ts";
import type { TaskReport, TaskRequest } from "./state/task.ts";

// How the run of a part of an agent's work begins and ends. What passes between the two is in state/task.ts.

/** How the run of a part ended. `lost`: it ended without a report of its own; `report` is what its record shows. */
export type PartEnd =
  | { readonly type: "reported"; readonly report: TaskReport }
  | ({ readonly type: "lost"; readonly report?: TaskReport } & LostPart);

/** Why a part ended without a report of its own. */
export type LostPart = {
  /** As text. */
  readonly reason: string;
  /** `taken`: a run with its name existed. `given-up`: it did not answer a stop. `ended`: from outside, or too early. */
  readonly cause: "taken" | "not-begun" | "given-up" | "ended";
};

/** Builds the first message of a sub-agent's session. */
export function buildTaskMessage(
  { spawn, branch, answer, changedArguments: changed }: TaskRequest,
  atMs: number,
): InboundMessage {
  const task = { spawn, branch, answer, ...omitUndefined({ changedArguments: changed }) };
  return { id: spawn.toolCallId, task, atMs };
}

/** The task of a job: its text, or the hash under which the text, or its parts, are stored. */
export type TaskInput = string | { readonly text?: string; readonly ref?: string; readonly parts?: true };
