import type { LoopTrace } from "../core/past-view.ts";
import { COMPACTION_KIND } from "../core/seen-messages.ts";
import type { Range } from "../core/view-ranges.ts";
import { PRUN_TOOL, REVERT_TOOL } from "../core/view-request.ts";
import type { AgentDefinition } from "../schema/definition.ts";
import type { Entry, EventBody } from "../schema/record.ts";
import { leftBranches } from "../transcript/left-branches.ts";
import type { LoopRecord, LoopTerms } from "../transcript/loop.ts";
import type { BranchRecord } from "../transcript/session.ts";
import type { StepKey, StepRecord } from "../transcript/step.ts";
import type { Transcript } from "../transcript/transcript.ts";

// Loops as they are recorded, for what was asked in them.

/** What this needs of a transcript. */
export type PastTranscript = {
  branches(session: string): Promise<readonly BranchRecord[]>;
  entries(session: string, branch: string, from: number, to: number): Promise<readonly Entry[]>;
  events(loopId: string, from: number): Promise<readonly { readonly body: EventBody }[]>;
  definition(hash: string): Promise<Pick<AgentDefinition, "tools" | "revert" | "output"> | undefined>;
  steps(session: string): Promise<readonly Pick<StepRecord, keyof StepKey | "kind">[]>;
} & Pick<Transcript, "note" | "text">;

export type PastLoop = Pick<LoopRecord, "loopId" | "branch" | "from" | "definitionHash">;

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
  const branches = await transcript.branches(session);
  const openings = openingsIn(await transcript.steps(session));
  const read = await Promise.all(
    loops.map(async (loop, index) => {
      const opening = openings[index];
      const terms = await termsOf(transcript, opening?.step);
      const trace = await traceOf(transcript, session, loop, branches);
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

/** Each loop was opened by one step, in the same order; a run's first step has the number 0. */
function openingsIn(steps: readonly Pick<StepRecord, keyof StepKey | "kind">[]): readonly Opening[] {
  let isFirstOfRun = false;
  return steps.flatMap((step) => {
    isFirstOfRun ||= step.number === 0;
    if (step.kind !== "open-loop") return [];
    const opening = { step, isFirstOfRun };
    isFirstOfRun = false;
    return [opening];
  });
}

async function traceOf(
  transcript: PastTranscript,
  session: string,
  { loopId, branch, from }: PastLoop,
  all: readonly BranchRecord[],
): Promise<Pick<LoopTrace, "branches" | "from" | "events" | "compactions">> {
  const events = (await transcript.events(loopId, 0)).map(({ body }) => body);
  const branches = [...leftBranches(all, branch, events), branch];
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
