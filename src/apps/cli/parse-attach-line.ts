import { findNearestName } from "../../platform/text/nearest-name.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";

// Parses the lines that a user types at attached sessions, without terminal I/O.

export type AttachAction =
  | { readonly type: "steer" | "follow-up"; readonly text: string }
  | { readonly type: "approve"; readonly call?: string }
  | { readonly type: "deny"; readonly call?: string; readonly reason?: string }
  | { readonly type: "stop" | "status" | "approvals" | "help" | "leave" }
  | { readonly type: "tell"; readonly text: string };

/** An action, and the number of the session that it is for, from 0. */
export type AddressedAction = { readonly sessionIndex: number; readonly action: AttachAction };

const COMMANDS = [
  "/f",
  "/follow",
  "/approve",
  "/deny",
  "/stop",
  "/status",
  "/approvals",
  "/quit",
  "/exit",
  "/help",
];

export const ATTACH_HELP = `Text that you type steers the agent.
  /f TEXT, /follow TEXT   deliver the text when the agent would otherwise stop
  /approve [CALL]         approve a call that waits for approval
  /deny [CALL] [REASON]   deny it
  /approvals              display the waiting calls again
  /stop                   stop the run
  /status                 display the session's status
  /quit, Ctrl-C           detach; the run continues
  //TEXT                  a message that begins with a slash
  @2 …                    send the line to the second of several sessions (default: the first)`;

/** @returns The action; undefined for an empty line. */
export function parseAttachLine(line: string, sessions: number): AddressedAction | undefined {
  const addressed = /^\s*@(\d+)(?:\s+|$)/.exec(line);
  const to = addressed === null ? 0 : Number(addressed[1]) - 1;
  const text = line.slice(addressed?.[0].length ?? 0).trim();
  if (to < 0 || to >= sessions) {
    const sessionsText = sessions === 1 ? "is one session" : `are ${sessions} sessions`;
    return {
      sessionIndex: 0,
      action: reportText(`Session @${to + 1} does not exist: there ${sessionsText}.`),
    };
  }
  if (text === "")
    return addressed === null
      ? undefined
      : { sessionIndex: to, action: reportText("The line has no text after the session number.") };
  return { sessionIndex: to, action: parseAction(text) };
}

function parseAction(line: string): AttachAction {
  if (line.startsWith("//")) return { type: "steer", text: line.slice(1) };
  if (!line.startsWith("/")) return { type: "steer", text: line };
  const [command = "", first, ...rest] = line.split(/\s+/);
  const argument = line.slice(command.length).trim();
  switch (command) {
    case "/f":
    case "/follow":
      if (argument === "")
        return reportText(`${command} needs a text, for example: ${command} then write the changelog`);
      return { type: "follow-up", text: argument };
    case "/approve":
      return { type: "approve", ...omitUndefined({ call: first }) };
    case "/deny":
      return {
        type: "deny",
        ...omitUndefined({ call: first }),
        ...(rest.length === 0 ? {} : { reason: rest.join(" ") }),
      };
    case "/stop":
      return { type: "stop" };
    case "/status":
      return { type: "status" };
    case "/approvals":
      return { type: "approvals" };
    case "/quit":
    case "/exit":
      return { type: "leave" };
    case "/help":
      return { type: "help" };
    default: {
      // A path is a message, not a mistyped command.
      if (first === undefined && command.slice(1).includes("/")) return { type: "steer", text: line };
      const near = findNearestName(command, COMMANDS);
      const hint = near === undefined ? "/help lists the commands" : `did you mean ${near}?`;
      return reportText(`Unknown command ${command}: ${hint} (a message that begins with a slash: //…)`);
    }
  }
}

function reportText(text: string): AttachAction {
  return { type: "tell", text };
}
