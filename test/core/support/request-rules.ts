import { replayPruned } from "../../../src/conversation/pruning/replay-prunes.ts";
import type { CallModelCommand } from "../../../src/core/machine/state/activity-command.ts";
import type { Span } from "../../../src/core/view/view.ts";
import type { MemoryTranscript } from "../../../src/devkit/scenario/memory-transcript.ts";
import type { Message } from "../../../src/schema/message.ts";
import type { Entry } from "../../../src/schema/record.ts";
import { toPrunedState } from "./pruned-state.ts";
import { expectNoOrphans, must, same } from "./rules.ts";
import type { Setting } from "./script.ts";

// What holds of every request to a model.

/** What a vendor would refuse: nothing new, an orphan; and a view that does not cover the conversation. */
export function checkRequest(
  { view, position }: CallModelCommand,
  messages: readonly Message[],
  entries: readonly Entry[],
): void {
  checkRanges(view.ranges, entries);
  must(entries.length >= position, "the outbox is written before the model is asked");
  must(/user|toolResult/.test(messages.at(-1)?.role ?? ""), "the model is asked behind something new");
  expectNoOrphans(messages);
}

export function checkWholeView({ view, position }: CallModelCommand): void {
  same(view.ranges, [{ from: 0, to: position }], "the model sees everything");
}

type Changed = {
  readonly spans: readonly Span[];
  /** Branches that the model has gone back from, in order. */
  readonly left: readonly string[];
  readonly entries: readonly Entry[];
};

/** Words of people stay, and events say the same as the view. */
export function checkChangedView(
  messages: readonly Message[],
  transcript: MemoryTranscript,
  { spans, left, entries }: Changed,
): void {
  const shown = JSON.stringify(messages.map(({ content }) => content));
  for (const { origin, message } of entries) {
    if (message.role !== "user" || origin === "machine") continue;
    const [part] = message.content;
    const words = part?.type === "text" ? JSON.stringify(part.text).slice(1, -1) : "";
    must(shown.includes(words), "words of people stay in the view");
  }
  const events = transcript.records.flatMap(({ loopId }) => transcript.listEvents(loopId));
  const replayed = replayPruned(
    events.map(({ body }) => body),
    left,
  );
  const { pruned, memos } = toPrunedState(spans);
  same({ pruned, memos }, { pruned: replayed.pruned, memos: replayed.memos }, "events replay to the view");
}

/** In order, without overlaps, and nothing is missing but what compactions have written for themselves. */
function checkRanges(ranges: CallModelCommand["view"]["ranges"], entries: readonly Entry[]): void {
  let at = 0;
  for (const { from, to } of ranges) {
    must(from >= at && to > from, "ranges are in order");
    const skipped = entries.filter(({ position }) => position >= at && position < from);
    must(
      skipped.every(({ message }) => message.role === "extension"),
      "a view leaves out no message",
    );
    at = to;
  }
}

export function changesViews({ tools = {} }: Setting): boolean {
  return Object.values(tools).some(({ view }) => view === true);
}
