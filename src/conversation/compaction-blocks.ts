import type { ViewRange } from "../core/view/view-ranges.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { AgentMessage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import type { CompactionBlock } from "../schema/recorded-session.ts";
import { formatEntry, isUserText } from "./compaction/clip.ts";
import { buildPlaceholder } from "./compaction/placeholder.ts";
import { groupLoops, groupTurns, type Turn } from "./compaction/turns.ts";
import { COMPACTION_KIND } from "./message-visibility.ts";

type Section = { readonly from: number; readonly to: number; readonly text: string };
type SectionView = { readonly from: number; readonly to: number; readonly messages: readonly AgentMessage[] };

/**
 * Builds what a compaction leaves of each loop, by loop id (PER-03): its first turns, texts for its middle, its last turns.
 * A loop of which nothing was omitted has no block.
 *
 * @param entries - From the branch's first up to the compaction's own, at `position`.
 */
export function buildCompactionBlocks(
  entries: readonly Entry[],
  position: number,
  createdAt: string,
): ReadonlyMap<string, CompactionBlock> {
  const message = entries.find((entry) => entry.position === position)?.message;
  if (message?.role !== "extension" || message.kind !== COMPACTION_KIND) return new Map();
  const { sections = [], ranges = [] } = message.data as {
    readonly sections?: readonly Section[];
    readonly ranges?: readonly ViewRange[];
  };
  const before = entries.filter((entry) => entry.position < position && entry.message.role !== "extension");
  const blocks = new Map<string, CompactionBlock>();
  for (const turns of groupLoops(groupTurns(before))) {
    const loopId = turns.find(({ id }) => id !== undefined)?.id?.loopId;
    const block = buildBlock(turns, sections, ranges, createdAt);
    if (loopId !== undefined && block !== undefined) blocks.set(loopId, block);
  }
  return blocks;
}

function buildBlock(
  turns: readonly Turn[],
  sections: readonly Section[],
  ranges: readonly ViewRange[],
  createdAt: string,
): CompactionBlock | undefined {
  const compacted = findTurnSpan(
    turns,
    sections.map(({ from, to, text }) => {
      const replaced = ranges.find((range) => range.replacement !== undefined && range.from === from);
      return { from, to, messages: [buildPlaceholder(text, 0), ...getUserMessages(turns, replaced)] };
    }),
  );
  if (compacted === undefined) return undefined;
  const shown = ranges.filter(({ replacement }) => replacement === undefined);
  const isFirst = ({ from }: ViewRange) =>
    sections.every((section) => from < section.from || section.to <= getFirstPosition(turns));
  const first = findTurnSpan(
    turns,
    shown.filter(isFirst).map((range) => ({ ...range, messages: [] })),
  );
  const recent = findTurnSpan(
    turns,
    shown
      .filter((range) => !isFirst(range))
      .map((range) => ({ ...range, messages: getMessages(turns, range) })),
  );
  return {
    ...omitUndefined({ keepFirst: first?.range }),
    keepCompacted: compacted,
    ...omitUndefined({ keepRecent: recent }),
    createdAt,
  };
}

/** Returns the turns that these sections touch; nothing when they touch none. */
function findTurnSpan(turns: readonly Turn[], stretches: readonly SectionView[]) {
  const touches = ({ from, to }: SectionView, { entries }: Turn) =>
    entries.some(({ position }) => position >= from && position < to);
  const own = stretches.filter((stretch) => turns.some((turn) => touches(stretch, turn)));
  const touched = turns.flatMap((turn, index) =>
    own.some((stretch) => touches(stretch, turn)) ? [index] : [],
  );
  const [startTurn, endTurn] = [touched[0], touched.at(-1)];
  if (startTurn === undefined || endTurn === undefined) return undefined;
  return { range: { startTurn, endTurn }, messages: own.flatMap(({ messages }) => [...messages]) };
}

function getFirstPosition(turns: readonly Turn[]): number {
  return turns[0]?.entries[0]?.position ?? 0;
}

function getMessages(turns: readonly Turn[], range: ViewRange): readonly AgentMessage[] {
  return getEntries(turns, range).map((entry) => formatEntry(entry, range));
}

/** Returns the user messages that follow a text. */
function getUserMessages(turns: readonly Turn[], range: ViewRange | undefined): readonly AgentMessage[] {
  if (range?.userTextFrom === undefined) return [];
  const { userTextFrom } = range;
  return getEntries(turns, range)
    .filter((entry) => entry.position >= userTextFrom && isUserText(entry))
    .map((entry) => formatEntry(entry, range));
}

function getEntries(turns: readonly Turn[], { from, to }: ViewRange): readonly Entry[] {
  return turns.flatMap(({ entries }) => entries).filter(({ position }) => position >= from && position < to);
}
