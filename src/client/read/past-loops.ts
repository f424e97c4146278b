import type { LoopTrace } from "../../conversation/pruning/past-view.ts";
import { COMPACTION_KIND } from "../../conversation/seen-messages.ts";
import type { Range } from "../../core/view/view-ranges.ts";
import { PRUN_TOOL, REVERT_TOOL } from "../../core/view/view-request.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Entry, EventBody } from "../../schema/record.ts";
import { leftBranches } from "../../store/transcript/left-branches.ts";
import type { LoopRecord, LoopTerms } from "../../store/transcript/loop.ts";
import type { BranchRecord } from "../../store/transcript/session.ts";
import type { StepKey, StepRecord } from "../../store/transcript/step.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

// Loops as they are recorded, for what was asked in them.

/** What this needs of a transcript. */
export type PastTranscript = {
  branches(session: string): Promise<readonly BranchRecord[]>;
  entries(session: string, branch: string, from: number, to: number): Promise<readonly Entry[]>;
  events(loopId: string, from: number): Promise<readonly { readonly body: EventBody }[]>;
  definition(hash: string): Promise<Pick<AgentDefinition, "tools" | "revert" | "output"> | undefined>;
  steps(session: string): Promise<readonly OpeningStep[]>;
  /** Of sessions that this one has begun with a part of. */
  loops?(session: string): Promise<readonly PastLoop[]>;
} & Pick<Transcript, "note" | "text">;

export type PastLoop = Pick<LoopRecord, "loopId" | "branch" | "from" | "definitionHash"> &
  Partial<Pick<LoopRecord, "startedAtMs">>;

export type Past = {
  readonly traces: readonly LoopTrace[];
  readonly branches: readonly BranchRecord[];
  /** The last one, and what it was opened with. */
  readonly loop: LoopTrace;
  readonly terms: LoopTerms | undefined;
  readonly output: AgentDefinition["output"];
};

/** @param loops - All of the session from its first on, in order of start. */
export async function pastOf(
  transcript: PastTranscript,
  session: string,
  loops: readonly PastLoop[],
): Promise<Past> {
  const before = await ancestorsOf(transcript, session, loops[0]?.startedAtMs);
  const branches = [
    ...before.flatMap((one) => one.branches),
    ...(await branchesOf(transcript, session, session)),
  ];
  const all = [...before.flatMap((one) => one.loops), ...loops.map((loop) => ({ ...loop, of: session }))];
  const openings = await openingsOf(transcript, [...before.map((one) => one.session), session], all);
  const read = await Promise.all(
    all.map(async (loop) => {
      const opening = openings.get(loop.loopId);
      const terms = await termsOf(transcript, opening?.step);
      const trace = await traceOf(transcript, session, loop);
      const definition = await transcript.definition(loop.definitionHash);
      const moved = await movedFadingOf(transcript, trace.events);
      const tools = terms?.tools.map(({ name }) => name) ?? definition?.tools ?? [];
      return {
        terms,
        output: definition?.output,
        trace: {
          ...trace,
          isFirstOfRun: opening?.isFirstOfRun ?? true,
          asksBefore:
            opening?.step.number === 0 && (tools.includes(PRUN_TOOL) || tools.includes(REVERT_TOOL)),
          ...(tools.includes(REVERT_TOOL) ? { fading: definition?.revert } : {}),
          ...(moved.length === 0 ? {} : { movedFading: moved }),
        },
      };
    }),
  );
  const last = read.at(-1);
  if (last === undefined) throw new RangeError("No loop is asked about");
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
type LoopOf = PastLoop & { readonly of: string };

/** By loop: where a run that was reset has opened it again, that counts. */
async function openingsOf(
  transcript: PastTranscript,
  sessions: readonly string[],
  loops: readonly LoopOf[],
): Promise<ReadonlyMap<string, Opening>> {
  const found = new Map<string, Opening>();
  for (const session of sessions) {
    const own = loops.filter(({ of }) => of === session);
    for (const [index, opening] of openingsIn(await transcript.steps(session)).entries()) {
      const loopId = opening.step.loopId ?? own[index]?.loopId;
      if (loopId !== undefined) found.set(loopId, opening);
    }
  }
  return found;
}

/** Each was opened by a step, in the same order where the step does not name it; a run's first step has the number 0. */
function openingsIn(steps: readonly OpeningStep[]): readonly (Opening & { readonly step: OpeningStep })[] {
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
  readonly loops: readonly LoopOf[];
};

/** The sessions that this one has begun with a part of, the first one first: with what was in them by then. */
async function ancestorsOf(
  transcript: PastTranscript,
  session: string,
  untilMs: number | undefined,
): Promise<readonly Ancestor[]> {
  const found: Ancestor[] = [];
  const known = new Set([session]);
  const look = async (of: string): Promise<void> => {
    for (const { from } of await transcript.branches(of)) {
      if (from === undefined || known.has(from.session)) continue;
      known.add(from.session);
      await look(from.session);
      const loops = (await transcript.loops?.(from.session)) ?? [];
      found.push({
        session: from.session,
        branches: await branchesOf(transcript, from.session, session),
        loops: loops
          .filter(({ startedAtMs = 0 }) => untilMs === undefined || startedAtMs <= untilMs)
          .map((loop) => ({ ...loop, of: from.session })),
      });
    }
  };
  await look(session);
  return found;
}

/** The branches of a session as another one names them. */
async function branchesOf(
  transcript: PastTranscript,
  of: string,
  reader: string,
): Promise<readonly BranchRecord[]> {
  return (await transcript.branches(of)).map(({ id, parent, from, ...rest }) => {
    const begins =
      from !== undefined
        ? { branch: named(from.session, from.branch, reader), position: from.position }
        : parent === undefined
          ? undefined
          : { branch: named(of, parent.branch, reader), position: parent.position };
    return { ...rest, id: named(of, id, reader), ...(begins === undefined ? {} : { parent: begins }) };
  });
}

function named(session: string, branch: string, reader: string): string {
  return session === reader ? branch : `${session}/${branch}`;
}

async function traceOf(
  transcript: PastTranscript,
  session: string,
  { loopId, branch, from, of }: LoopOf,
): Promise<Pick<LoopTrace, "branches" | "from" | "events" | "compactions">> {
  const events = (await transcript.events(loopId, 0)).map(({ body }) => body);
  const own = [...leftBranches(await transcript.branches(of), branch, events), branch];
  const branches = own.map((id) => named(of, id, session));
  const compactions = placesOf(events, branches, "CompactionEnded").map(async (at) => {
    const [entry] = await transcript.entries(session, at.branch, at.position, at.position + 1);
    return rangesIn(entry);
  });
  return { branches, from, events, compactions: await Promise.all(compactions) };
}

/** Where the entries of such events lie: each time that the model goes back, the next branch begins. */
export function placesOf(
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

function rangesIn(entry: Entry | undefined): readonly Range[] | undefined {
  const message = entry?.message;
  if (message?.role !== "extension" || message.kind !== COMPACTION_KIND) return undefined;
  return (message.data as { ranges?: readonly Range[] }).ranges;
}

async function termsOf(
  transcript: PastTranscript,
  step: StepKey | undefined,
): Promise<LoopTerms | undefined> {
  const hash = step === undefined ? undefined : await transcript.note(step);
  const text = hash === undefined ? undefined : await transcript.text(hash);
  return text === undefined ? undefined : (JSON.parse(text) as LoopTerms);
}

async function movedFadingOf(
  transcript: PastTranscript,
  events: readonly EventBody[],
): Promise<NonNullable<LoopTrace["movedFading"]>> {
  const hashes = events.flatMap((body) =>
    body.type === "DefinitionChanged" && body.applied ? [body.to] : [],
  );
  return await Promise.all(hashes.map(async (hash) => (await transcript.definition(hash))?.revert));
}
