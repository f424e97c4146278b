import { COMPACTION_KIND } from "../../conversation/message-visibility.ts";
import type { LoopTrace } from "../../conversation/pruning/past-view.ts";
import type { ViewRange } from "../../core/view/view-ranges.ts";
import { PRUNE_TOOL, REVERT_TOOL } from "../../core/view/view-request.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { EventBody } from "../../schema/loop-event.ts";
import type { Entry } from "../../schema/record.ts";
import { findLeftBranches } from "../../store/transcript/find-left-branches.ts";
import type { LoopRecord, LoopTerms } from "../../store/transcript/loop.ts";
import type { BranchRecord } from "../../store/transcript/session.ts";
import type { StepKey, StepRecord } from "../../store/transcript/step.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

// Recorded loops, with the requests made in them.

/** The part of a transcript that this module reads. */
export type HistoryReader = {
  readBranches(session: string): Promise<readonly BranchRecord[]>;
  readEntries(session: string, branch: string, from: number, to: number): Promise<readonly Entry[]>;
  readEvents(loopId: string, from: number): Promise<readonly { readonly body: EventBody }[]>;
  readDefinition(hash: string): Promise<Pick<AgentDefinition, "tools" | "revert" | "output"> | undefined>;
  readSteps(session: string): Promise<readonly OpeningStep[]>;
  /** The loops of the sessions that this one was forked from. */
  readLoops?(session: string): Promise<readonly LoopInHistory[]>;
} & Pick<Transcript, "readNote" | "readText">;

export type LoopInHistory = Pick<LoopRecord, "loopId" | "branch" | "from" | "definitionHash"> &
  Partial<Pick<LoopRecord, "startedAtMs">>;

export type LoopHistoryTrace = {
  readonly traces: readonly LoopTrace[];
  readonly branches: readonly BranchRecord[];
  /** The last loop, and what it was opened with. */
  readonly loop: LoopTrace;
  readonly terms: LoopTerms | undefined;
  readonly output: AgentDefinition["output"];
};

/** @param loops - All loops of the session from the first on, in order of start. */
export async function readLoopHistory(
  transcript: HistoryReader,
  session: string,
  loops: readonly LoopInHistory[],
): Promise<LoopHistoryTrace> {
  const before = await readAncestors(transcript, session, loops[0]?.startedAtMs);
  const branches = [
    ...before.flatMap((one) => one.branches),
    ...(await readBranches(transcript, session, session)),
  ];
  const all = [...before.flatMap((one) => one.loops), ...loops.map((loop) => ({ ...loop, of: session }))];
  const openings = await readOpenings(transcript, [...before.map((one) => one.session), session], all);
  const read = await Promise.all(
    all.map(async (loop) => {
      const opening = openings.get(loop.loopId);
      const terms = await readTerms(transcript, opening?.step);
      const trace = await readTrace(transcript, session, loop);
      const definition = await transcript.readDefinition(loop.definitionHash);
      const fadingUpdates = await readFadingUpdates(transcript, trace.events);
      const tools = terms?.tools.map(({ name }) => name) ?? definition?.tools ?? [];
      return {
        terms,
        output: definition?.output,
        trace: {
          ...trace,
          isFirstOfRun: opening?.isFirstOfRun ?? true,
          readsEarlierPrunes:
            opening?.step.number === 0 && (tools.includes(PRUNE_TOOL) || tools.includes(REVERT_TOOL)),
          ...(tools.includes(REVERT_TOOL) ? { tagFading: definition?.revert } : {}),
          ...(fadingUpdates.length === 0 ? {} : { updatedTagFading: fadingUpdates }),
        },
      };
    }),
  );
  const last = read.at(-1);
  if (last === undefined) throw new RangeError("No loop is given");
  return {
    traces: read.map(({ trace }) => trace),
    branches,
    loop: last.trace,
    terms: last.terms,
    output: last.output,
  };
}

type Opening = { readonly step: StepKey; readonly isFirstOfRun: boolean };
type OpeningStep = Pick<StepRecord, keyof StepKey | "kind" | "loopId">;
type SessionLoop = LoopInHistory & { readonly of: string };

/** Reads the openings by loop. After a reset, the newest opening of a loop counts. */
async function readOpenings(
  transcript: HistoryReader,
  sessions: readonly string[],
  loops: readonly SessionLoop[],
): Promise<ReadonlyMap<string, Opening>> {
  const found = new Map<string, Opening>();
  for (const session of sessions) {
    const own = loops.filter(({ of }) => of === session);
    for (const [index, opening] of findOpenings(await transcript.readSteps(session)).entries()) {
      const loopId = opening.step.loopId ?? own[index]?.loopId;
      if (loopId !== undefined) found.set(loopId, opening);
    }
  }
  return found;
}

/** Matches openings and steps in order where a step does not name its loop. A run's first step has the number 0. */
function findOpenings(steps: readonly OpeningStep[]): readonly (Opening & { readonly step: OpeningStep })[] {
  let isFirstOfRun = false;
  return steps.flatMap((step) => {
    isFirstOfRun ||= step.number === 0;
    if (step.kind !== "open-loop") return [];
    const opening = { step, isFirstOfRun };
    isFirstOfRun = false;
    return [opening];
  });
}

type Ancestor = {
  readonly session: string;
  readonly branches: readonly BranchRecord[];
  readonly loops: readonly SessionLoop[];
};

/** Reads the sessions that this one was forked from, the first one first, each up to its fork. */
async function readAncestors(
  transcript: HistoryReader,
  session: string,
  untilMs: number | undefined,
): Promise<readonly Ancestor[]> {
  const found: Ancestor[] = [];
  const ancestors = new Set([session]);
  const visit = async (of: string): Promise<void> => {
    for (const { from } of await transcript.readBranches(of)) {
      if (from === undefined || ancestors.has(from.session)) continue;
      ancestors.add(from.session);
      await visit(from.session);
      const loops = (await transcript.readLoops?.(from.session)) ?? [];
      found.push({
        session: from.session,
        branches: await readBranches(transcript, from.session, session),
        loops: loops
          .filter(({ startedAtMs = 0 }) => untilMs === undefined || startedAtMs <= untilMs)
          .map((loop) => ({ ...loop, of: from.session })),
      });
    }
  };
  await visit(session);
  return found;
}

/** Reads the branches of a session under the names that another session uses for them. */
async function readBranches(
  transcript: HistoryReader,
  of: string,
  reader: string,
): Promise<readonly BranchRecord[]> {
  return (await transcript.readBranches(of)).map(({ id, parent, from, ...rest }) => {
    const begins =
      from !== undefined
        ? { branch: formatBranchName(from.session, from.branch, reader), position: from.position }
        : parent === undefined
          ? undefined
          : { branch: formatBranchName(of, parent.branch, reader), position: parent.position };
    return {
      ...rest,
      id: formatBranchName(of, id, reader),
      ...omitUndefined({ parent: begins }),
    };
  });
}

function formatBranchName(session: string, branch: string, reader: string): string {
  return session === reader ? branch : `${session}/${branch}`;
}

async function readTrace(
  transcript: HistoryReader,
  session: string,
  { loopId, branch, from, of }: SessionLoop,
): Promise<Pick<LoopTrace, "branches" | "from" | "events" | "compactions">> {
  const events = (await transcript.readEvents(loopId, 0)).map(({ body }) => body);
  const own = [...findLeftBranches(await transcript.readBranches(of), branch, events), branch];
  const branches = own.map((id) => formatBranchName(of, id, session));
  const compactions = findEntryPositions(events, branches, "CompactionEnded").map(async (at) => {
    const [entry] = await transcript.readEntries(session, at.branch, at.position, at.position + 1);
    return getCompactedRanges(entry);
  });
  return { branches, from, events, compactions: await Promise.all(compactions) };
}

/** Returns the branch and position of each event's entry: after every revert, the next branch begins. */
export function findEntryPositions(
  events: readonly EventBody[],
  branches: readonly string[],
  type: "CompactionEnded" | "MessageStart",
): readonly { readonly branch: string; readonly position: number }[] {
  let part = 0;
  return events.flatMap((body) => {
    if (body.type === "RevertApplied" && body.applied) part += 1;
    return body.type === type ? [{ branch: branches[part] ?? "", position: body.position }] : [];
  });
}

function getCompactedRanges(entry: Entry | undefined): readonly ViewRange[] | undefined {
  const message = entry?.message;
  if (message?.role !== "extension" || message.kind !== COMPACTION_KIND) return undefined;
  return (message.data as { ranges?: readonly ViewRange[] }).ranges;
}

async function readTerms(
  transcript: HistoryReader,
  step: StepKey | undefined,
): Promise<LoopTerms | undefined> {
  const hash = step === undefined ? undefined : await transcript.readNote(step);
  const text = hash === undefined ? undefined : await transcript.readText(hash);
  return text === undefined ? undefined : (JSON.parse(text) as LoopTerms);
}

async function readFadingUpdates(
  transcript: HistoryReader,
  events: readonly EventBody[],
): Promise<NonNullable<LoopTrace["updatedTagFading"]>> {
  const hashes = events.flatMap((body) =>
    body.type === "DefinitionChanged" && body.applied ? [body.to] : [],
  );
  return await Promise.all(hashes.map(async (hash) => (await transcript.readDefinition(hash))?.revert));
}
