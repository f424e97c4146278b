import type { Outcome, SpawnRef } from "../../../schema/record.ts";
import type { Allowance, Amounts } from "../../budget/account-state.ts";

// What passes between an agent and a sub-agent that works for one of its calls: references and numbers, no text.

/** What a sub-agent is started with. */
export type TaskRequest = {
  readonly spawn: SpawnRef;
  /** The branch of the answer with the call, in the caller's session. */
  readonly branch: string;
  readonly answer: number;
  /** Replaces the task; set by the user. */
  readonly changedArguments?: Readonly<Record<string, unknown>>;
  /** The beginning of the task, for observers. */
  readonly summary: string;
  /** What its caller has reserved for it, and for everything that it starts. */
  readonly allocation: Allowance;
  /** The maximum of turns that the call has set, in place of the definition's. */
  readonly maxTurns?: number;
};

/** The report of a sub-agent's run. Its text stays in its own session, in the entry at `position`. */
export type TaskReport = {
  readonly session: string;
  readonly outcome: Outcome;
  readonly branch: string;
  /** Absent when no loop could be opened. */
  readonly loopId?: string;
  /** The position of the last answer that has a text; absent when there is none. */
  readonly position?: number;
  /** The estimated tokens of that text. */
  readonly tokens: number;
  /** The number of messages that its loops have added (SUB-05). */
  readonly messages: number;
  /** Includes everything below it. */
  readonly used: Amounts;
  /** Time that was spent only waiting for the user, here or below. Absent for 0. */
  readonly waitedMs?: number;
  /** How the agent wants its work to continue, when it has specified it. */
  readonly nextRound?: NextRound;
};

/** What an autonomous agent wants after its turn. */
export type NextRound =
  | {
      readonly type: "done";
      /** What was achieved: at most 512 bytes; complete in the call. */
      readonly summary: string;
    }
  | {
      readonly type: "sleep";
      /** How long until the next round. */
      readonly seconds: number;
      /** Why, for the user. */
      readonly reason: string;
    };

/** The text of a task, as a message to the sub-agent. It is in the caller's record. */
export type TaskRef = Pick<TaskRequest, "spawn" | "branch" | "answer" | "changedArguments">;
