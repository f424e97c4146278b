import type { Command } from "commander";
import { AttachedSession } from "../attached-session.ts";
import { withHoldfast } from "../connection.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { InputScreen } from "../input-screen.ts";
import { waitForInterrupt } from "../interrupts.ts";
import { ATTACH_HELP, parseAttachLine } from "../parse-attach-line.ts";
import { PrefixedLines } from "../prefixed-lines.ts";
import { detectImageProtocol } from "../terminal-image.ts";
import { UsageError } from "../usage-error.ts";

type Flags = { readonly from: string };

export function configureAttachCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session...>", "the sessions' ids, their beginnings, or `last`")
    .option(
      "--from <start>",
      "where output begins: loop, session or now; with --json also a cursor from earlier output",
      "loop",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast attach 5f0c…
  $ holdfast attach 5f0c… 77ab…
  $ holdfast attach 5f0c… --json --from now

${ATTACH_HELP}

Ctrl-C detaches and the run continues. The exit codes are those of "holdfast run"; with several sessions, the highest.`,
    )
    .action(async (sessions: string[], flags: Flags) =>
      runAction((context) => attach(context, sessions, flags)),
    );
}

function checkDistinct(sessions: readonly string[]): void {
  if (new Set(sessions).size < sessions.length)
    throw new UsageError("A session id is given twice. Give each session once.");
}

async function attach(context: Context, sessions: readonly string[], { from }: Flags): Promise<number> {
  checkDistinct(sessions);
  const isNamedStart = ["loop", "session", "now"].includes(from);
  if (!isNamedStart && (!context.json || sessions.length > 1)) {
    throw new UsageError(
      "--from must be loop, session or now. A cursor needs --json and exactly one session.",
    );
  }
  return withHoldfast(context, async (holdfast) => {
    const ids = await Promise.all(sessions.map((reference) => holdfast.sessions.find(reference)));
    checkDistinct(ids);
    const { stdin, stdout, signals } = context.streams;
    const leaving = new AbortController();
    const leave = (): void => leaving.abort();
    const attached: AttachedSession[] = [];
    const screen = new InputScreen(stdin, stdout, {
      onLine: (line) => {
        const step = parseAttachLine(line, attached.length);
        if (step?.action.type === "leave") leave();
        else if (step?.action.type === "help") attached[step.sessionIndex]?.report(ATTACH_HELP);
        else if (step !== undefined) void attached[step.sessionIndex]?.carryOut(step.action);
      },
      onInterrupt: leave,
      // No further input is possible, but watching continues.
      onEnd: () => undefined,
    });
    const write = (text: string): void => screen.write(text);
    // The prefix of one of several sessions would break an image.
    const images = sessions.length === 1 ? detectImageProtocol(stdout, context.streams.env) : undefined;
    for (const [index, id] of ids.entries()) {
      const lines = new PrefixedLines(context.out.bold(`[${index + 1}]`), write);
      const writeLine = sessions.length === 1 ? write : (text: string) => lines.write(text);
      attached.push(new AttachedSession(context, holdfast, id, writeLine, images));
      const number = sessions.length === 1 ? "" : `[${index + 1}] `;
      context.report(context.err.dim(`${number}session ${id} · /help`));
    }
    void waitForInterrupt(signals).then(leave);
    screen.setBusy();
    try {
      const codes = await Promise.all(attached.map((one) => one.follow(from, leaving.signal)));
      if (codes.every((code) => code !== undefined)) return Math.max(...codes);
      context.report(
        context.err.yellow(`Detached. Runs continue. To attach again: holdfast attach ${sessions.join(" ")}`),
      );
      return EXIT.interrupted;
    } finally {
      leave();
      screen.close();
    }
  });
}
