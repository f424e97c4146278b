import { z } from "zod";
import { defineTool, type ExecutableTool } from "../tool.ts";

export const FINISH_TOOL = "finish_work";

/** The longest sleep of an autonomous agent, in seconds: 30 days. */
const MAX_SLEEP_SECONDS = 30 * 24 * 60 * 60;

const MAX_REASON_CHARS = 200;

export const SleepArguments = z.object({
  seconds: z
    .number()
    .int()
    .min(1)
    .max(MAX_SLEEP_SECONDS)
    .describe("How long to sleep, in seconds; at most 30 days"),
  reason: z.string().min(1).max(MAX_REASON_CHARS).describe("What you are waiting for"),
});

export const FinishArguments = z.object({
  summary: z.string().min(1).describe("What you did and what you found, for the user who requested the work"),
});

/** Creates the tools by which an autonomous agent decides how its work continues. They take effect after its turn ends. */
export function createNextRoundTools(): readonly ExecutableTool[] {
  const finish = defineTool({
    name: FINISH_TOOL,
    label: "Finish",
    description:
      "Declares that the whole task is complete or cannot be completed. Call this tool once, at the very end, then end your turn.",
    inputSchema: FinishArguments,
    replay: "pure",
    quick: true,
    summarise: ({ summary }) => summary,
    execute: () => "Noted: the work is complete. End your turn now; you may add a final message.",
  });
  const sleep = defineTool({
    name: "sleep",
    label: "Sleep",
    description:
      "Pauses your work until the time has passed or you are woken earlier. Sleeping costs nothing. Use this tool when the work must wait for something, then end your turn.",
    inputSchema: SleepArguments,
    replay: "pure",
    quick: true,
    summarise: ({ seconds, reason }) => `${seconds} s: ${reason}`,
    execute: ({ seconds }) =>
      `Noted: you will sleep for ${seconds} seconds after your turn ends. End your turn now; you will be prompted when you wake.`,
  });
  return [
    { ...finish, nextRound: "done" },
    { ...sleep, nextRound: "sleep" },
  ];
}
