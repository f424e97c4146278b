import { compactEntries } from "../../../activities/compact/compact-entries.ts";
import { buildAnswerDigest } from "../../../activities/model/answer-digest.ts";
import { getAvailableTools } from "../../../activities/model/available-tools.ts";
import { buildModelRequest, showsLabels } from "../../../activities/model/call-model.ts";
import { isVisible } from "../../../conversation/materialise.ts";
import type { CallModelCommand, CompactCommand } from "../../../core/machine/state/activity-command.ts";
import type { ViewRanges } from "../../../core/view/view-ranges.ts";
import type { Entry } from "../../../schema/record.ts";
import { withAttempts } from "./attempts.ts";
import type { Made } from "./results.ts";
import type { Stage } from "./stage.ts";
import { readSeenMessages } from "./world.ts";

// The two steps that call a vendor.

export async function callModel(stage: Stage, command: CallModelCommand, branch: string): Promise<Made> {
  const { transcript, definition, vendor } = stage;
  const { loopId, turn, position } = command;
  begin(stage, command, "answer");
  const view = { ...command.view, branch };
  const labels = showsLabels(getAvailableTools(definition, stage.tools));
  const textOnly = command.textOnly === true;
  const asking = { isRepair: command.isRepair === true, textOnly, formats: view.ranges };
  const { deadlineMs = Number.POSITIVE_INFINITY } = command;
  const work = async (attempt: number) => {
    const messages = readSeenMessages(transcript, view, { labels });
    const answer = await vendor.stream(buildModelRequest(definition, messages, stage, asking));
    return { answer, attempt };
  };
  const asked = await withAttempts(stage, command.maxAttempts, work, deadlineMs);
  if ("setback" in asked) return { happening: { type: "model-failed", failure: asked.setback } };
  const { answer, attempt } = asked.done;
  const message = { ...answer, turnId: { loopId, turnIndex: turn } };
  const digest = await buildAnswerDigest(message, definition, stage, { attempts: attempt, textOnly });
  return {
    happening: { type: "model-replied", digest },
    entry: { position, origin: "model", message },
  };
}

export async function compact(stage: Stage, command: CompactCommand, branch: string): Promise<Made> {
  const { transcript, definition, machine } = stage;
  begin(stage, command, "summary");
  const entries = inView(command.view, transcript.listEntries(branch));
  const made = await withAttempts(stage, command.maxAttempts, () =>
    compactEntries(entries, definition, command, machine.nowMs, stage, new AbortController().signal),
  );
  if ("setback" in made) return { happening: { type: "compact-failed", failure: made.setback } };
  const { digest, entry } = made.done;
  const happening = { type: "compacted" as const, digest: { ...digest, branch } };
  return entry === undefined ? { happening } : { happening, entry };
}

function begin(
  { transcript, vendor }: Stage,
  command: CallModelCommand | CompactCommand,
  purpose: "answer" | "summary",
): void {
  vendor.asker = {
    loop: transcript.records.length - 1,
    turn: command.turn,
    number: command.number,
    for: purpose,
  };
}

function inView({ ranges, fadedBefore }: ViewRanges, entries: readonly Entry[]): readonly Entry[] {
  return entries.filter((entry) =>
    ranges.some(
      (range) =>
        entry.position >= range.from && entry.position < range.to && isVisible(range, entry, fadedBefore),
    ),
  );
}
