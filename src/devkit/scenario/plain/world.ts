import type { HookDependencies } from "../../../activities/hooks/ask-hooks.ts";
import type { InitialViewDependencies } from "../../../activities/open-loop/initial-view.ts";
import { type MaterialiseOptions, materialise } from "../../../conversation/materialise.ts";
import type { ViewRanges } from "../../../core/view/view-ranges.ts";
import type { Message } from "../../../schema/message.ts";
import type { MemoryTranscript } from "../memory-transcript.ts";
import type { Stage } from "./stage.ts";

/** Returns the model's view, from memory. */
export function readSeenMessages(
  transcript: MemoryTranscript,
  view: ViewRanges,
  options: Pick<MaterialiseOptions, "labels"> = {},
): readonly Message[] {
  const elsewhere = (branch: string, position: number) => transcript.getMessage(branch, position);
  return materialise(view, transcript.listEntries(view.branch), { ...options, readMessage: elsewhere });
}

/** Returns the stage with the property names of the activities' dependencies. */
export function createHookContext(
  stage: Stage,
): HookDependencies & InitialViewDependencies & Pick<Stage, "filters"> {
  const { hooks, filters, tools, sandboxes, defaultWorkspace, log, transcript } = stage;
  return {
    hooks,
    filters,
    tools,
    sandboxes,
    defaultWorkspace,
    log,
    transcript: {
      readInbox: async () => transcript.waiting,
      readEntries: async (_, branch, from, to) => transcript.listEntries(branch).slice(from, to),
      readLoops: async () => transcript.records,
      readBranches: async () => transcript.branches,
      readParts: async () => undefined,
      readEvents: async (loopId) => transcript.listEvents(loopId),
    },
    conversations: {
      readMessages: async (_, view, options) => readSeenMessages(transcript, view, options),
      readMessage: async (_, branch, position) => transcript.getMessage(branch, position),
      loadData: async (messages) => messages,
      readEntriesBefore: async (_, branch, position) => transcript.listEntries(branch).slice(0, position),
    },
  };
}
