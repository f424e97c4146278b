import { joinPruned, type MemoRef, replaceSpans, type View } from "../view/view.ts";
import type { PruneRequest, RevertRequest } from "../view/view-request.ts";
import { emit } from "./outbox.ts";
import type { QueuedRequest } from "./state/call-status.ts";
import type { State } from "./state/state.ts";

// The view requests of a batch's calls wait in the phase, in the order in which the calls ended. Such calls run one after
// the other, so each one chooses from the view that the earlier ones have left.

/** Returns the view after these requests. Reverts are applied when the turn ends. */
export function buildViewAfterRequests(
  view: View,
  position: number,
  requests: readonly QueuedRequest[],
): View {
  return requests.reduce((now, { call, request }) => {
    if (request.type !== "prune") return now;
    return pruneView(now, request, buildMemoRef(position, call, request));
  }, view);
}

/** Applies and reports every prune of the batch (PRUN-07); the vendor's token count is no longer valid (CTX-05). */
export function applyPrunes(state: State, position: number, requests: readonly QueuedRequest[]): State {
  const prunes = requests.flatMap(({ call, request }) =>
    request.type === "prune" ? [{ call, request }] : [],
  );
  if (prunes.length === 0) return state;
  const { reportedSize: _, ...rest } = state;
  const smaller: State = { ...rest, view: buildViewAfterRequests(state.view, position, prunes) };
  return prunes.reduce<State>((current, { call, request }) => {
    const memo = buildMemoRef(position, call, request);
    return emit(current, {
      type: "PrunApplied",
      pruned: request.pruned.map(({ from, to }) => ({ from, to })),
      tokensRemoved: request.tokens,
      messagesRemoved: request.messages,
      ...(memo === undefined ? {} : { memo: { position: memo.position, call, tokens: memo.tokens } }),
    });
  }, smaller);
}

export function getReverts(requests: readonly QueuedRequest[]): readonly RevertRequest[] {
  return requests.flatMap(({ request }) => (request.type === "revert" ? [request] : []));
}

function buildMemoRef(position: number, call: number, { memoTokens }: PruneRequest): MemoRef | undefined {
  return memoTokens === undefined ? undefined : { position, call, tokens: memoTokens };
}

/** Prunes the view. The memo precedes the first pruned span. */
function pruneView(
  view: View,
  { replacedRange, spans, pruned: ranges }: PruneRequest,
  memo: MemoRef | undefined,
): View {
  const first = ranges[0]?.from;
  const marked = spans.map((span) =>
    memo === undefined || span.from !== first
      ? span
      : { ...span, tokens: span.tokens + memo.tokens, memos: [memo] },
  );
  const smaller = replaceSpans(view, replacedRange.from, replacedRange.to, marked);
  return { ...smaller, spans: joinPruned(smaller.spans) };
}
