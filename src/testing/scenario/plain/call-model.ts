import { answerDigest } from "../../../activities/answer-digest.ts";
import { modelRequest } from "../../../activities/model.ts";
import { smaller } from "../../../activities/smaller-view.ts";
import type { CallModelCommand, CompactCommand } from "../../../core/command.ts";
import { materialise, type ViewRanges } from "../../../core/view.ts";
import type { Entry } from "../../../schema/record.ts";
import { withAttempts } from "./attempts.ts";
import type { Happening } from "./machine.ts";
import type { Stage } from "./stage.ts";

// The two steps that ask a vendor.

export async function callModel(stage: Stage, command: CallModelCommand): Promise<Happening> {
  const { transcript, definition, vendor } = stage;
  const { branch, loopId, turn, position } = command;
  begin(stage, command, "answer");
  const asked = await withAttempts(stage, command.maxAttempts, async (attempt) => {
    const messages = materialise(command.view, transcript.entries(branch));
    const answer = await vendor.stream(modelRequest(definition, messages, stage, command.repair === true));
    return { answer, attempt };
  });
  if ("setback" in asked) return { type: "model-set-back", setback: asked.setback };
  const { answer, attempt } = asked.done;
  const message = { ...answer, turnId: { loopId, turnIndex: turn } };
  const digest = await answerDigest(message, definition, stage, attempt);
  transcript.put(branch, { position, origin: "model", message });
  return { type: "model-replied", digest: { ...digest, branch } };
}

export async function compact(stage: Stage, command: CompactCommand): Promise<Happening> {
  const { transcript, definition, machine } = stage;
  const { branch } = command;
  begin(stage, command, "summary");
  const seen = inView(command.view, transcript.entries(branch));
  const made = await withAttempts(stage, command.maxAttempts, () =>
    smaller(seen, definition, command, machine.nowMs, stage, new AbortController().signal),
  );
  if ("setback" in made) return { type: "compact-set-back", setback: made.setback };
  const { digest, entry } = made.done;
  if (entry !== undefined) transcript.put(branch, entry);
  return { type: "compacted", digest: { ...digest, branch } };
}

function begin(
  { transcript, vendor }: Stage,
  { outbox, branch, loopId, turn }: CallModelCommand | CompactCommand,
  purpose: "answer" | "summary",
): void {
  transcript.write(outbox, branch, loopId);
  vendor.asker = { loop: transcript.loops.length - 1, turn, for: purpose };
}

function inView({ ranges }: ViewRanges, entries: readonly Entry[]): readonly Entry[] {
  return entries.filter(({ position }) => ranges.some(({ from, to }) => position >= from && position < to));
}
