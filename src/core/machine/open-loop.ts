import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { Continuation } from "../../schema/continuation.ts";
import type { MessageMetadata } from "../../schema/message.ts";
import type { SessionTitle } from "../../schema/record.ts";
import { NO_USAGE } from "../budget/usage.ts";
import { readGrants } from "../permission/grants.ts";
import { extendView, type Span, type View } from "../view/view.ts";
import { dispatch } from "./dispatch.ts";
import { emit } from "./outbox.ts";
import type { LoopDigest, PinnedDigest } from "./state/digest.ts";
import type { Prompt } from "./state/inbound-message.ts";
import type { State } from "./state/state.ts";

/** The size in bytes of the first prompt's beginning that an operator sees. */
const GOAL_BYTES = 256;

export function openLoop(state: State, prompts: readonly Prompt[], continuation?: Continuation): State {
  const given = dispatch(state);
  const goal =
    state.goal === "" && state.redactContent !== true
      ? redactPreview(prompts[0]?.text ?? state.task?.summary ?? "", GOAL_BYTES)
      : state.goal;
  const phase = { type: "opening" as const, dispatch: given.dispatch, prompts };
  return { ...given.state, goal, phase: continuation === undefined ? phase : { ...phase, continuation } };
}

export function applyOpenedLoop(state: State, digest: LoopDigest, isContinuation: boolean): State {
  const { loopId, kind, from, branch, definitionHash } = digest;
  // The vendor's token count was for what the last loop sent (CTX-06).
  const { reportedSize: _, requestedUpdate, requestedTitle: _t, ...rest } = state;
  const opened: State = {
    ...rest,
    ...(requestedUpdate === undefined || requestedUpdate.hash === definitionHash ? {} : { requestedUpdate }),
    ...(digest.grants === undefined || state.grants !== undefined
      ? {}
      : { grants: readGrants(digest.grants) }),
    requestedDefinition: { hash: definitionHash },
    last: undefined,
    pinned: applyRequestedTurns(toPinnedDigest(digest), state.task),
    branch,
    length: from + digest.entries.length,
    view: buildInitialView(state, digest),
    ...omitUndefined({ title: findTitle(state, digest) }),
    goal: state.goal === "" ? `${digest.entries.length} messages` : state.goal,
    loop: {
      loopId,
      kind,
      from,
      startedAtMs: state.nowMs,
      turn: 0,
      usage: NO_USAGE,
      turnUsage: NO_USAGE,
      costUsd: 0,
      eventCount: 0,
      lastStop: undefined,
      lastText: undefined,
      ...(digest.rejected === undefined && digest.entries.length > 0
        ? { hasUnreadPrompts: true as const }
        : {}),
      ...(isContinuation ? { isContinuation } : {}),
      ...omitUndefined({ asksForTitle: digest.asksForTitle }),
    },
  };
  const due = { type: "turn-pending" as const, source: "opening" as const };
  // A loop that a hook has rejected never began (CB-05).
  if (digest.rejectedBy !== undefined) return { ...opened, phase: due };
  const optional = omitUndefined({ parentLoopId: digest.parentLoopId, metadata: findMetadata(state) });
  const announced = emit(opened, { type: "AgentStart", kind, ...optional });
  return { ...announced, phase: due };
}

/** Finds the metadata of the prompt that begins the loop. Messages that were queued before it come before it. */
function findMetadata({ phase }: State): MessageMetadata | undefined {
  if (phase.type !== "opening") return undefined;
  return phase.prompts.findLast(({ metadata }) => metadata !== undefined)?.metadata;
}

/** A title that the user has given while the loop was opened stays. */
function findTitle({ title }: State, digest: LoopDigest): SessionTitle | undefined {
  return title?.by === "user" ? title : (digest.title ?? title);
}

/** The call that a sub-agent works for may have set the maximum of turns of its loops. */
function applyRequestedTurns(pinned: PinnedDigest, task: State["task"]): PinnedDigest {
  if (task?.maxTurns === undefined) return pinned;
  return { ...pinned, limits: { ...pinned.limits, maxTurns: task.maxTurns } };
}

function toPinnedDigest(digest: LoopDigest): PinnedDigest {
  const {
    loopId: _l,
    parentLoopId: _p,
    kind: _k,
    branch: _b,
    from: _f,
    tokensBefore: _t,
    view: _v,
    grants: _g,
    entries: _e,
    warnings: _w,
    rejected: _r,
    rejectedBy: _rb,
    title: _ti,
    asksForTitle: _a,
    ...pinned
  } = digest;
  return pinned;
}

/** Returns the unchanged view when the loop continues right after it, otherwise what earlier loops left before it. */
function buildInitialView(state: State, digest: LoopDigest): View {
  const goesOn = state.view.branch === digest.branch && state.length === digest.from;
  const before: View = goesOn
    ? state.view
    : { branch: digest.branch, ...(digest.view ?? { spans: buildEarlierSpans(digest) }) };
  return digest.entries.reduce<View>(
    (view, { tokens, isRejected }, index) =>
      isRejected === true ? view : extendView(view, { position: digest.from + index, tokens, newTurn: true }),
    before,
  );
}

function buildEarlierSpans({ from, tokensBefore }: LoopDigest): readonly Span[] {
  return from === 0 ? [] : [{ from: 0, to: from, turns: 1, tokens: tokensBefore }];
}
