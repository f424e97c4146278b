import { z } from "zod";
import { defineTool, type ExecutableTool } from "../tool.ts";

const Reason = z.string().min(1).max(500);

const HandOffArguments = z.object({
  reason: Reason.describe("What the person must know or do, in a sentence or two"),
});

const PauseArguments = z.object({
  reason: Reason.describe("What you are waiting for, in a sentence or two"),
});

/** Creates the tools by which a model ends its loop for people or for something outside (HITL-05). Opt-in, by name. */
export function createLoopEndTools(): readonly ExecutableTool[] {
  return [
    defineTool({
      name: "hand_off",
      label: "Hand off",
      description:
        "Hands the task over to a person, because you cannot or may not complete it yourself. Your work ends after this call. Say what is done and what is left before you call it.",
      inputSchema: HandOffArguments,
      replay: "pure",
      quick: true,
      summarise: ({ reason }) => reason,
      execute: ({ reason }) => ({
        content: [{ type: "text", text: "The task was handed over to a person." }],
        endsLoop: { type: "handoff", reason },
      }),
    }),
    defineTool({
      name: "pause_work",
      label: "Pause",
      description:
        "Pauses your work until something outside of your control has happened, such as a delivery or a decision. You continue after this call when you are told that it has happened.",
      inputSchema: PauseArguments,
      replay: "pure",
      quick: true,
      summarise: ({ reason }) => reason,
      execute: ({ reason }) => ({
        content: [{ type: "text", text: "Your work was paused." }],
        endsLoop: { type: "paused", reason },
      }),
    }),
  ];
}
