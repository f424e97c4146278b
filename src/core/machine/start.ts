import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Continuation } from "../../schema/continuation.ts";
import type { Allowance } from "../budget/account-state.ts";
import type { LoopPart } from "../evaluation/loop-part.ts";
import { EMPTY_VIEW } from "../view/view.ts";
import { EMPTY_OUTBOX } from "./outbox.ts";
import { EMPTY_QUEUES, rememberId } from "./queues.ts";
import type { InboundMessage } from "./state/inbound-message.ts";
import { type RequestedDefinition, RULE_SET, STATE_VERSION, type State } from "./state/state.ts";
import type { TaskRequest } from "./state/task.ts";

export type StartInput = {
  readonly session: string;
  readonly mode: "run" | "interactive";
  readonly idleTimeoutMs: number | null;
  readonly localSteps: boolean;
  /** Present when status and summaries must contain no text of the conversation. */
  readonly redactContent?: true;
  readonly requestedDefinition: RequestedDefinition;
  /** Empty when there is nothing to ask: messages that arrive with the start go to the inbox. */
  readonly prompts: readonly InboundMessage[];
  /** Why there are no prompts although there should be: the run ends with this after it has filled the inbox. */
  readonly problem?: string;
  /** Replaces prompts: the session's conversation continues from its current state. */
  readonly continuation?: Continuation;
  /** The title of the session, as the user has requested it. */
  readonly title?: string;
  /** Temporal displays the session's title. */
  readonly showsTitle?: boolean;
  /** The run is a sub-agent's; its task arrives with the prompts. */
  readonly task?: TaskRequest;
  /** The run is a part of another run's work. */
  readonly share?: Allowance;
  /** The loop is a branch of an evaluation. */
  readonly part?: LoopPart;
  /** The rule set with which it begins; the newest by default. */
  readonly ruleSet?: number;
  readonly nowMs: number;
};

export function buildInitialState(input: StartInput): State {
  const fresh: State = {
    version: STATE_VERSION,
    ruleSet: input.ruleSet ?? RULE_SET,
    session: input.session,
    mode: input.mode,
    idleTimeoutMs: input.idleTimeoutMs,
    localSteps: input.localSteps,
    ...omitUndefined({ redactContent: input.redactContent }),
    requestedDefinition: input.requestedDefinition,
    pinned: undefined,
    nowMs: input.nowMs,
    nextCommand: 0,
    phase: {
      type: "starting",
      prompts: input.prompts,
      ...omitUndefined({ continuation: input.continuation }),
    },
    queues: EMPTY_QUEUES,
    recentIds: [],
    outbox: EMPTY_OUTBOX,
    branch: EMPTY_VIEW.branch,
    length: 0,
    view: EMPTY_VIEW,
    loop: undefined,
    stop: undefined,
    rotationRequested: false,
    totals: { loops: 0, turns: 0, costUsd: 0 },
    goal: "",
    last:
      input.problem === undefined
        ? undefined
        : { outcome: { type: "failed", fault: "invalid", message: input.problem } },
    ...(input.showsTitle === true ? { showsTitle: true as const } : {}),
    ...omitUndefined({
      requestedTitle: input.title,
      task: input.task,
      share: input.share,
      part: input.part,
    }),
  };
  return input.prompts.reduce((state, { id }) => rememberId(state, id), fresh);
}
