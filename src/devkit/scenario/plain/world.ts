import type { HookWorld } from "../../../activities/hooks/ask-hooks.ts";
import type { PrunedWorld } from "../../../activities/open-loop/view-at-start.ts";
import { type Materialising, materialise } from "../../../conversation/materialise.ts";
import type { ViewRanges } from "../../../core/view/view-ranges.ts";
import type { Message } from "../../../schema/message.ts";
import type { MemoryTranscript } from "../memory-transcript.ts";
import type { Stage } from "./stage.ts";

/** What the model sees, from memory. */
export function seen(
  transcript: MemoryTranscript,
  view: ViewRanges,
  options: Pick<Materialising, "labels"> = {},
): readonly Message[] {
  const elsewhere = (branch: string, position: number) => transcript.message(branch, position);
  return materialise(view, transcript.entries(view.branch), { ...options, elsewhere });
}

/** The stage by the names of what activities ask for. */
export function worldOf(stage: Stage): HookWorld & PrunedWorld & Pick<Stage, "filters"> {
  const { hooks, filters, tools, defaultWorkspace, log, transcript } = stage;
  return {
    hooks,
    filters,
    tools,
    defaultWorkspace,
    log,
    transcript: {
      inbox: async () => transcript.waiting,
      entries: async (_, branch, from, to) => transcript.entries(branch).slice(from, to),
      loops: async () => transcript.records,
      branches: async () => transcript.branches,
      events: async (loopId) => transcript.events(loopId),
    },
    conversations: {
      messages: async (_, view, options) => seen(transcript, view, options),
      message: async (_, branch, position) => transcript.message(branch, position),
      before: async (_, branch, position) => transcript.entries(branch).slice(0, position),
    },
  };
}
