import type { ViewRange } from "../core/view/view-ranges.ts";
import type { PositionRange } from "../core/view/view-request.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { AgentMessage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import type { CompactionBlock } from "../schema/recorded-session.ts";
import { formatEntry, isUserText } from "./compaction/clip.ts";
import { buildPlaceholder } from "./compaction/placeholder.ts";
import { groupLoops, groupTurns, type Turn } from "./compaction/turns.ts";
import { COMPACTION_KIND } from "./message-visibility.ts";

type Section = PositionRange & { readonly text: string };

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
  const messages = entries.filter((entry) => entry.message.role !== "extension");
  const blocks = new Map<string, CompactionBlock>();
  for (const turns of groupLoops(groupTurns(messages))) {
    const loopId = turns.map(({ id }) => id?.loopId).find((id) => id !== undefined);
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
  const own = sections.filter((section) => getEntries(turns, section).length > 0);
  const compacted = findTurnSpan(turns, own);
  if (compacted === undefined) return undefined;
  const start = Math.min(...own.map(({ from }) => from));
  const shown = ranges.filter(({ replacement }) => replacement === undefined);
  const first = shown.filter(({ to }) => to <= start);
  const others = shown.filter((range) => !first.includes(range));
  const recent = findTurnSpan(turns, others);
  const buildMessages = ({ from, text }: Section) => {
    const replaced = ranges.find((range) => range.from === from);
    return [buildPlaceholder(text, 0), ...getUserMessages(turns, replaced)];
  };
  return {
    ...omitUndefined({ keepFirst: findTurnSpan(turns, first) }),
    keepCompacted: { range: compacted, messages: own.flatMap(buildMessages) },
    ...omitUndefined({
      keepRecent: recent && {
        range: recent,
        messages: others.flatMap((range) =>
          getEntries(turns, range).map((entry) => formatEntry(entry, range)),
        ),
      },
    }),
    createdAt,
  };
}

/** Returns the turns that these ranges touch; nothing when they touch none. */
function findTurnSpan(turns: readonly Turn[], ranges: readonly PositionRange[]) {
  const touched = turns.flatMap((turn, index) =>
    ranges.some((range) => getEntries([turn], range).length > 0) ? [index] : [],
  );
  const [startTurn] = touched;
  return startTurn === undefined ? undefined : { startTurn, endTurn: touched.at(-1) ?? startTurn };
}

/** Returns the user messages that follow a text. */
function getUserMessages(turns: readonly Turn[], range: ViewRange | undefined): readonly AgentMessage[] {
  if (range?.userTextFrom === undefined) return [];
  const { userTextFrom, to } = range;
  return getEntries(turns, { from: userTextFrom, to })
    .filter(isUserText)
    .map((entry) => formatEntry(entry, range));
}

function getEntries(turns: readonly Turn[], { from, to }: PositionRange): readonly Entry[] {
  return turns.flatMap(({ entries }) => entries).filter(({ position }) => position >= from && position < to);
}
