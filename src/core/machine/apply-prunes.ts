import { joinPruned, type MemoRef, replaceSpans, type View } from "../view/view.ts";
import type { PruneRequest, RevertRequest, ViewRequest } from "../view/view-request.ts";
import { emit } from "./outbox.ts";
import type { State } from "./state/state.ts";

// What the calls of a batch want of the view waits in the phase, in the order in which they ended; they run one after
// the other, so that each has chosen from what the ones before it have left.

/** A request with the call that makes it: its index in the answer at `position`. */
export type QueuedRequest = { readonly call: number; readonly request: ViewRequest };

/** The view as these requests leave it; going back comes when the turn is over. */
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

/** Every prune of the batch is done and told (PRUN-07); what the vendor had counted holds no longer (CTX-05). */
export function applyPrunes(state: State, position: number, requests: readonly QueuedRequest[]): State {
  const prunes = requests.flatMap(({ call, request }) =>
    request.type === "prune" ? [{ call, request }] : [],
  );
  if (prunes.length === 0) return state;
  const { counted: _, ...rest } = state;
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

/** The memo stands before the first span that was pruned. */
function pruneView(
  view: View,
  { between, spans, pruned: ranges }: PruneRequest,
  memo: MemoRef | undefined,
): View {
  const first = ranges[0]?.from;
  const marked = spans.map((span) =>
    memo === undefined || span.from !== first
      ? span
      : { ...span, tokens: span.tokens + memo.tokens, memos: [memo] },
  );
  const smaller = replaceSpans(view, between.from, between.to, marked);
  return { ...smaller, spans: joinPruned(smaller.spans) };
}
