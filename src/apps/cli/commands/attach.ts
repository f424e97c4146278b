import type { Command } from "commander";
import { ATTACH_HELP, attachStep } from "../attach-lines.ts";
import { AttachedSession } from "../attached-session.ts";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { interrupted } from "../interrupts.ts";
import { PrefixedLines } from "../prefixed-lines.ts";
import { TypingScreen } from "../typing-screen.ts";
import { UsageError } from "../usage-error.ts";

type Flags = { readonly from: string };

export function attachCommand(
  program: Command,
  act: (work: (context: Context) => Promise<number>) => Promise<void>,
): void {
  program
    .command("attach")
    .description("Show sessions that run elsewhere, and speak to them")
    .argument("<session...>", "the sessions' ids")
    .option(
      "--from <place>",
      "loop, session or now; with --json also a cursor that was printed before",
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

Ctrl-C leaves and the run goes on; the exit code is that of "holdfast run". Of several sessions it is the highest.`,
    )
    .action(async (sessions: string[], flags: Flags) => act((context) => attach(context, sessions, flags)));
}

async function attach(context: Context, sessions: readonly string[], { from }: Flags): Promise<number> {
  if (new Set(sessions).size < sessions.length) throw new UsageError("A session is named twice.");
  const isWord = ["loop", "session", "now"].includes(from);
  if (!isWord && (!context.json || sessions.length > 1)) {
    throw new UsageError("--from is loop, session or now; a cursor goes with --json and one session.");
  }
  return withHoldfast(context, async (holdfast) => {
    const { stdin, stdout, signals } = context.streams;
    const leaving = new AbortController();
    const leave = (): void => leaving.abort();
    const attached: AttachedSession[] = [];
    const screen = new TypingScreen(stdin, stdout, {
      onLine: (line) => {
        const step = attachStep(line, attached.length);
        if (step?.action.type === "leave") leave();
        else if (step?.action.type === "help") attached[step.to]?.tell(ATTACH_HELP);
        else if (step !== undefined) void attached[step.to]?.carryOut(step.action);
      },
      onInterrupt: leave,
      // Nobody can type any more; the watching goes on.
      onEnd: () => undefined,
    });
    const write = (text: string): void => screen.write(text);
    for (const [index, id] of sessions.entries()) {
      const lines = new PrefixedLines(context.out.bold(`[${index + 1}]`), write);
      const shown = sessions.length === 1 ? write : (text: string) => lines.write(text);
      attached.push(new AttachedSession(context, holdfast, id, shown));
      const number = sessions.length === 1 ? "" : `[${index + 1}] `;
      context.tell(context.err.dim(`${number}session ${id} · /help`));
    }
    void interrupted(signals).then(leave);
    screen.busy();
    try {
      const codes = await Promise.all(attached.map((one) => one.follow(from, leaving.signal)));
      if (codes.every((code) => code !== undefined)) return Math.max(...codes);
      context.tell(context.err.yellow(`Left. What runs goes on: holdfast attach ${sessions.join(" ")}`));
      return EXIT.interrupted;
    } finally {
      leave();
      screen.close();
    }
  });
}
