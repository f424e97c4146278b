import type { Range } from "../core/view/view-ranges.ts";
import type { AgentMessage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import type { CompactionBlock } from "../schema/recorded-session.ts";
import { isWordsOfPeople, shownMessage } from "./compaction/clip.ts";
import { standIn } from "./compaction/stand-in.ts";
import { loopsOf, type Turn, turnsOf } from "./compaction/turns.ts";
import { COMPACTION_KIND } from "./seen-messages.ts";

type Section = { readonly from: number; readonly to: number; readonly text: string };
type Shown = { readonly from: number; readonly to: number; readonly messages: readonly AgentMessage[] };

/**
 * What a compaction shows of each loop, by loop id (PER-03): its first turns, words in place of its middle, its last turns.
 * A loop of which nothing was left out has no block.
 *
 * @param entries - From the branch's first up to the compaction's own, at `position`.
 */
export function compactionBlocks(
  entries: readonly Entry[],
  position: number,
  createdAt: string,
): ReadonlyMap<string, CompactionBlock> {
  const message = entries.find((entry) => entry.position === position)?.message;
  if (message?.role !== "extension" || message.kind !== COMPACTION_KIND) return new Map();
  const { sections = [], ranges = [] } = message.data as {
    readonly sections?: readonly Section[];
    readonly ranges?: readonly Range[];
  };
  const before = entries.filter((entry) => entry.position < position && entry.message.role !== "extension");
  const blocks = new Map<string, CompactionBlock>();
  for (const turns of loopsOf(turnsOf(before))) {
    const loopId = turns.find(({ id }) => id !== undefined)?.id?.loopId;
    const block = blockOf(turns, sections, ranges, createdAt);
    if (loopId !== undefined && block !== undefined) blocks.set(loopId, block);
  }
  return blocks;
}

function blockOf(
  turns: readonly Turn[],
  sections: readonly Section[],
  ranges: readonly Range[],
  createdAt: string,
): CompactionBlock | undefined {
  const compacted = spanned(
    turns,
    sections.map(({ from, to, text }) => {
      const words = ranges.find((range) => range.instead !== undefined && range.from === from);
      return { from, to, messages: [standIn(text, 0), ...wordsBehind(turns, words)] };
    }),
  );
  if (compacted === undefined) return undefined;
  const shown = ranges.filter(({ instead }) => instead === undefined);
  const isFirst = ({ from }: Range) =>
    sections.every((section) => from < section.from || section.to <= firstOf(turns));
  const first = spanned(
    turns,
    shown.filter(isFirst).map((range) => ({ ...range, messages: [] })),
  );
  const recent = spanned(
    turns,
    shown
      .filter((range) => !isFirst(range))
      .map((range) => ({ ...range, messages: messagesIn(turns, range) })),
  );
  return {
    ...(first === undefined ? {} : { keepFirst: first.range }),
    keepCompacted: compacted,
    ...(recent === undefined ? {} : { keepRecent: recent }),
    createdAt,
  };
}

/** The turns that such stretches touch; nothing when they touch none. */
function spanned(turns: readonly Turn[], stretches: readonly Shown[]) {
  const touches = ({ from, to }: Shown, { entries }: Turn) =>
    entries.some(({ position }) => position >= from && position < to);
  const own = stretches.filter((stretch) => turns.some((turn) => touches(stretch, turn)));
  const touched = turns.flatMap((turn, index) =>
    own.some((stretch) => touches(stretch, turn)) ? [index] : [],
  );
  const [startTurn, endTurn] = [touched[0], touched.at(-1)];
  if (startTurn === undefined || endTurn === undefined) return undefined;
  return { range: { startTurn, endTurn }, messages: own.flatMap(({ messages }) => [...messages]) };
}

function firstOf(turns: readonly Turn[]): number {
  return turns[0]?.entries[0]?.position ?? 0;
}

function messagesIn(turns: readonly Turn[], range: Range): readonly AgentMessage[] {
  return entriesIn(turns, range).map((entry) => shownMessage(entry, range));
}

/** Words of people that a text has behind it. */
function wordsBehind(turns: readonly Turn[], range: Range | undefined): readonly AgentMessage[] {
  if (range?.wordsFrom === undefined) return [];
  const { wordsFrom } = range;
  return entriesIn(turns, range)
    .filter((entry) => entry.position >= wordsFrom && isWordsOfPeople(entry))
    .map((entry) => shownMessage(entry, range));
}

function entriesIn(turns: readonly Turn[], { from, to }: Range): readonly Entry[] {
  return turns.flatMap(({ entries }) => entries).filter(({ position }) => position >= from && position < to);
}
