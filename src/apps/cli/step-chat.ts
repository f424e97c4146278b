import { findNearestName } from "../../platform/text/nearest-name.ts";

// Maps typed lines to actions, depending on what the agent is doing, without terminal I/O.

export type ChatPhase = "idle" | "running" | "stopping";

export type ChatAction =
  | { readonly type: "prompt"; readonly text: string }
  | { readonly type: "steer"; readonly text: string }
  | { readonly type: "follow-up"; readonly text: string }
  | { readonly type: "stop" }
  | { readonly type: "status" }
  /** Displays the postponed approvals again. */
  | { readonly type: "approvals" }
  | { readonly type: "help" }
  | { readonly type: "leave" }
  | { readonly type: "tell"; readonly text: string };

export type ChatEvent =
  | { readonly type: "line"; readonly text: string }
  | { readonly type: "interrupt" }
  /** A loop began, or the last loop ended. */
  | { readonly type: "began" }
  | { readonly type: "ended" };

export type ChatStep = { readonly phase: ChatPhase; readonly action?: ChatAction };

const COMMANDS = ["/f", "/follow", "/stop", "/status", "/approvals", "/quit", "/exit", "/help"] as const;

export const CHAT_HELP = `While the agent runs, text that you type steers it.
  /f TEXT, /follow TEXT   deliver the text when the agent would otherwise stop
  /stop, Ctrl-C           stop the run
  /status                 display the session's status
  /approvals              display the postponed approvals again
  /quit, Ctrl-C twice     exit; you can resume the session later
  //TEXT                  a message that begins with a slash`;

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
      return handleLine(phase, event.text);
  }
}

function handleLine(phase: ChatPhase, text: string): ChatStep {
  const trimmed = text.trim();
  if (trimmed === "") return { phase };
  if (trimmed.startsWith("//")) return sendText(phase, trimmed.slice(1));
  if (!trimmed.startsWith("/")) return sendText(phase, trimmed);
  const [command = "", ...rest] = trimmed.split(/\s+/);
  const argument = trimmed.slice(command.length).trim();
  switch (command) {
    case "/f":
    case "/follow":
      if (argument === "")
        return reportText(phase, `${command} needs a text, for example: ${command} then write the changelog`);
      return phase === "idle"
        ? sendText(phase, argument)
        : { phase, action: { type: "follow-up", text: argument } };
    case "/stop":
      return phase === "running"
        ? { phase: "stopping", action: { type: "stop" } }
        : reportText(phase, phase === "idle" ? "No run is open." : "The run is already stopping.");
    case "/status":
      return { phase, action: { type: "status" } };
    case "/approvals":
      return { phase, action: { type: "approvals" } };
    case "/quit":
    case "/exit":
      return { phase, action: { type: "leave" } };
    case "/help":
      return { phase, action: { type: "help" } };
    default: {
      // A path is a message, not a mistyped command.
      if (rest.length === 0 && command.slice(1).includes("/")) return sendText(phase, trimmed);
      const near = findNearestName(command, COMMANDS);
      const hint = near === undefined ? "/help lists the commands" : `did you mean ${near}?`;
      return reportText(
        phase,
        `Unknown command ${command}: ${hint} (a message that begins with a slash: //…)`,
      );
    }
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
