import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { findCommand, formatCommands, formatUnknownCommand, needsArgument } from "./chat/chat-commands.ts";

// Maps typed messages and commands to actions, depending on what the agent is doing, without terminal I/O.

export type ChatPhase = "idle" | "running" | "stopping";

export type ChatAction =
  | { readonly type: "prompt"; readonly text: string }
  | { readonly type: "steer"; readonly text: string }
  | { readonly type: "follow-up"; readonly text: string }
  | { readonly type: "stop" }
  | { readonly type: "status" }
  /** Displays the postponed approvals again. */
  | { readonly type: "approvals" }
  | { readonly type: "model" }
  | { readonly type: "compact"; readonly focus?: string }
  | { readonly type: "help" }
  | { readonly type: "leave" }
  | { readonly type: "tell"; readonly text: string };

export type ChatEvent =
  /** A message or a command; at a terminal it may have several lines. */
  | { readonly type: "line"; readonly text: string }
  | { readonly type: "interrupt" }
  /** A loop began, or the last loop ended. */
  | { readonly type: "began" }
  | { readonly type: "ended" };

export type ChatStep = { readonly phase: ChatPhase; readonly action?: ChatAction };

/** Explains the commands, after the keys of the input. */
export function formatChatHelp(keys: readonly string[]): string {
  return [
    "While the agent runs, text that you type steers it.",
    ...keys,
    ...formatCommands(),
    "  //TEXT sends a message that begins with a slash.",
  ].join("\n");
}

export function stepChat(phase: ChatPhase, event: ChatEvent): ChatStep {
  switch (event.type) {
    case "began":
      return { phase: phase === "stopping" ? "stopping" : "running" };
    case "ended":
      return { phase: "idle" };
    case "interrupt":
      return phase === "running"
        ? { phase: "stopping", action: { type: "stop" } }
        : { phase, action: { type: "leave" } };
    case "line":
      return handleText(phase, event.text);
  }
}

function handleText(phase: ChatPhase, text: string): ChatStep {
  const trimmed = text.trim();
  if (trimmed === "") return { phase };
  if (trimmed.startsWith("//")) return sendText(phase, trimmed.slice(1));
  if (!trimmed.startsWith("/")) return sendText(phase, trimmed);
  const [word = ""] = trimmed.split(/\s+/, 1);
  const argument = trimmed.slice(word.length).trim();
  const command = findCommand(word);
  if (command !== undefined && argument === "" && needsArgument(command))
    return reportText(phase, `${word} needs a text, for example: ${word} then write the changelog`);
  switch (command) {
    case "/steer":
      return sendText(phase, argument);
    case "/follow-up":
      return phase === "idle"
        ? sendText(phase, argument)
        : { phase, action: { type: "follow-up", text: argument } };
    case "/stop":
      return phase === "running"
        ? { phase: "stopping", action: { type: "stop" } }
        : reportText(phase, phase === "idle" ? "No run is open." : "The run is already stopping.");
    case "/compact":
      return {
        phase,
        action: { type: "compact", ...omitUndefined({ focus: argument === "" ? undefined : argument }) },
      };
    case "/status":
      return { phase, action: { type: "status" } };
    case "/model":
      return { phase, action: { type: "model" } };
    case "/approvals":
      return { phase, action: { type: "approvals" } };
    case "/exit":
      return { phase, action: { type: "leave" } };
    case "/help":
      return { phase, action: { type: "help" } };
    case undefined:
      // A path is a message, not a mistyped command.
      if (word.slice(1).includes("/")) return sendText(phase, trimmed);
      return reportText(phase, formatUnknownCommand(word));
  }
}

function sendText(phase: ChatPhase, text: string): ChatStep {
  switch (phase) {
    case "idle":
      return { phase: "running", action: { type: "prompt", text } };
    case "running":
      return { phase, action: { type: "steer", text } };
    case "stopping":
      return reportText(phase, "The run is stopping. Send the message again in a moment.");
  }
}

function reportText(phase: ChatPhase, text: string): ChatStep {
  return { phase, action: { type: "tell", text } };
}
