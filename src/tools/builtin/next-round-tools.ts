import { z } from "zod";
import { defineTool, type ExecutableTool } from "../tool.ts";

export const FINISH_TOOL = "finish_work";

/** Longest sleep of an agent that works by itself, in seconds: 30 days. */
const MAX_SLEEP_SECONDS = 30 * 24 * 60 * 60;

const MAX_REASON_CHARS = 200;

export const SleepArguments = z.object({
  seconds: z.number().int().min(1).max(MAX_SLEEP_SECONDS).describe("How long; at most 30 days"),
  reason: z.string().min(1).max(MAX_REASON_CHARS).describe("What you wait for"),
});

export const FinishArguments = z.object({
  summary: z.string().min(1).describe("What was done, and what was found, for whoever has asked for it"),
});

/** The tools by which an agent that works by itself says how its work goes on. What they ask for comes when its turn is over. */
export function createNextRoundTools(): readonly ExecutableTool[] {
  const finish = defineTool({
    name: FINISH_TOOL,
    label: "Finish",
    description:
      "Says that the whole task is done, or cannot be done. Call it once, at the very end; then end your turn.",
    parameters: FinishArguments,
    replay: "pure",
    quick: true,
    summarise: ({ summary }) => summary,
    execute: () => "Noted: the work is done. End your turn now, with a last word if you like.",
  });
  const sleep = defineTool({
    name: "sleep",
    label: "Sleep",
    description:
      "Rests until the time has passed or somebody wakes you. Costs nothing meanwhile. For work that has to wait for something; end your turn behind it.",
    parameters: SleepArguments,
    replay: "pure",
    quick: true,
    summarise: ({ seconds, reason }) => `${seconds} s: ${reason}`,
    execute: ({ seconds }) =>
      `Noted: you will sleep for ${seconds} seconds when your turn is over. End your turn now; you are prompted when it is time.`,
  });
  return [
    { ...finish, rest: "done" },
    { ...sleep, rest: "sleep" },
  ];
}
