import type { Outcome, SpawnRef } from "../schema/record.ts";
import type { Allowance, Amounts } from "./budget/amounts.ts";
import type { PersonMessage } from "./state.ts";

// What passes between an agent and a sub-agent that works for one of its calls: references, numbers, no words.

/** What a sub-agent is started with. */
export type TaskRequest = {
  readonly spawn: SpawnRef;
  /** Where the answer stands that holds the call, in the caller's session. */
  readonly branch: string;
  readonly answer: number;
  /** What a person has put in place of the task. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** A few words of the task, for whoever watches. */
  readonly summary: string;
  /** What its caller has set aside for it, and for all that it starts. */
  readonly given: Allowance;
};

/** What a sub-agent's run comes to. Its words stay in its own session, in the entry at `position`. */
export type TaskReport = {
  readonly session: string;
  readonly outcome: Outcome;
  readonly branch: string;
  /** Absent when no loop could be opened. */
  readonly loopId?: string;
  /** Of the last answer that has a text; absent where there is none. */
  readonly position?: number;
  /** Estimated tokens of that text. */
  readonly tokens: number;
  /** Messages that its loops have added (SUB-05). */
  readonly messages: number;
  /** With all below it. */
  readonly used: Amounts;
  /** Time in which nothing but a person was waited for, here or below. Absent for 0. */
  readonly waitedMs?: number;
  /** The agent has said how its work is to go on. */
  readonly rest?: Rest;
};

/** How the run of a part came to its end. `lost`: it is gone without a word of its own; `report` is what its record shows. */
export type PartEnd =
  | { readonly type: "reported"; readonly report: TaskReport }
  | ({ readonly type: "lost"; readonly report?: TaskReport } & LostPart);

/** Why a part is gone without a word of its own. */
export type LostPart = {
  /** In words. */
  readonly how: string;
  /** `taken`: a run of its name was there. `given-up`: it did not answer a stop. `ended`: from outside, or too early. */
  readonly cause: "taken" | "not-begun" | "given-up" | "ended";
};

/** What an autonomous agent wants when its turn is over. */
export type Rest =
  /** `summary`: at most 512 bytes; whole in the call. */
  | { readonly type: "done"; readonly summary: string }
  | { readonly type: "sleep"; readonly seconds: number; readonly reason: string };

/** The words of a task, as a message to the sub-agent. They stand in the caller's record. */
export type TaskRef = Pick<TaskRequest, "spawn" | "branch" | "answer" | "arguments">;

/** The first message of a sub-agent's session. */
export function taskMessage(
  { spawn, branch, answer, arguments: changed }: TaskRequest,
  atMs: number,
): PersonMessage {
  const task = { spawn, branch, answer, ...(changed === undefined ? {} : { arguments: changed }) };
  return { id: spawn.toolCallId, task, atMs };
}

/** What a job was asked: the words, or the hash that they are stored under. */
export type TaskWords = string | { readonly text?: string; readonly ref?: string };
