import type { Continuation } from "../../../schema/definition.ts";
import type { MemoryTranscript } from "../memory-transcript.ts";
import { buildContinuation, type ContinuedFrom, type RunStart } from "../play-result.ts";
import { ScenarioError } from "../scenario-error.ts";

/** Resolves where a run continues to a position of the transcript. */
export function resolveContinuation(
  transcript: MemoryTranscript,
  { continued }: RunStart,
): Continuation | undefined {
  if (continued === undefined) return undefined;
  return buildContinuation(continued, findPosition(transcript, continued));
}

function findPosition(transcript: MemoryTranscript, { at, loop }: ContinuedFrom) {
  if (at === undefined && loop === undefined) return undefined;
  const branch = transcript.getBranch(loop);
  if (branch === undefined) {
    throw new ScenarioError([
      `arrives: loop ${loop} does not exist; the number of loops is ${transcript.loops.length}`,
    ]);
  }
  return { branch, position: at ?? transcript.listEntries(branch).length };
}
