import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { type AgentFlags, addAgentFlags, definitionFrom } from "../agent-flags.ts";
import { isCut, questionLines, waitingLines } from "../approval-view.ts";
import { ChatSession } from "../chat-session.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { onInterrupts } from "../interrupts.ts";
import { openStack } from "../local-stack.ts";
import { problemView } from "../problem-view.ts";
import { Renderer } from "../render.ts";
import { noticeOfTrust } from "../trust-notice.ts";
import { TypingScreen } from "../typing-screen.ts";
import { statusRows } from "./status.ts";

type Flags = AgentFlags & { readonly session?: string };

export function chatCommand(
  program: Command,
  act: (work: (context: Context) => Promise<number>) => Promise<void>,
): void {
  const command = program
    .command("chat")
    .description("Talk with an agent at the terminal; typing while it works steers it")
    .option(
      "--session <id>",
      "take up this session, with the definition it had unless --model or --agent is given",
    );
  addAgentFlags(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast chat --model anthropic/claude-sonnet-4-5
  $ holdfast chat --agent agent.toml
  $ holdfast chat --session 5f0c…

While the agent works: a line steers it, "/f TEXT" is said when it is done, Ctrl-C stops it and a second one leaves.
When a call waits for your word it is shown: y, n, a (always), e (edit its arguments); Ctrl-C leaves it open.
Also /stop /status /approvals /quit /help. Pipe lines in to use it without a terminal.`,
    )
    .action(async (flags: Flags) => act((context) => chat(context, flags)));
}

async function chat(context: Context, flags: Flags): Promise<number> {
  const { streams } = context;
  const resumes = flags.session !== undefined && flags.model === undefined && flags.agent === undefined;
  const made = resumes ? undefined : definitionFrom(flags, { cwd: process.cwd(), env: streams.env });
  if (made !== undefined) noticeOfTrust(context, flags);
  for (const warning of made?.warnings ?? []) context.tell(context.err.yellow(warning));
  for (const problem of made?.problems ?? []) context.tell(problemView(problem, context.err).join("\n"));
  const id = flags.session ?? randomUUID();
  const stack = await openStack(context);
  try {
    return await talk(context, stack.holdfast, id, made?.agent);
  } finally {
    await stack.close();
  }
}

async function talk(
  context: Context,
  holdfast: ConstructorParameters<typeof ChatSession>[0],
  id: string,
  agent: ConstructorParameters<typeof ChatSession>[2],
): Promise<number> {
  const { streams, out } = context;
  let ended = false;
  const screen: TypingScreen = new TypingScreen(streams.stdin, streams.stdout, {
    onLine: (text) => {
      ownWords.add(text.trim());
      session.hear({ type: "line", text });
    },
    onInterrupt: () => session.hear({ type: "interrupt" }),
    onEnd: () => {
      ended = true;
      session.inputEnded();
      session.settled().then(
        () => session.hear({ type: "line", text: "/quit" }),
        () => session.hear({ type: "line", text: "/quit" }),
      );
    },
  });
  const ownWords = new Set<string>();
  const renderer = new Renderer({ write: (text) => screen.write(text), paint: out, ownWords });
  const tell = (text: string): void => {
    if (context.json) context.printJson({ type: "notice", text });
    else screen.write(`${out.yellow(text)}\n`);
    idle(session);
  };
  const idle = (_: unknown): void => {
    if (phase === "idle" && !ended) screen.ready();
  };
  let phase: "idle" | "running" | "stopping" = "idle";
  const session = new ChatSession(holdfast, id, agent, {
    show: (item) => (context.json ? context.printJson(item) : renderer.show(item)),
    tell,
    phase: (next) => {
      phase = next;
      if (next === "idle") {
        renderer.endLine();
        idle(session);
      } else screen.busy();
    },
    status: async (at) =>
      tell(
        (await statusRows(at, await at.status(), context.options))
          .map(([name, value]) => `${name}: ${value}`)
          .join("\n"),
      ),
    question: (call, whole) => {
      if (context.json) return context.printJson({ type: "needs-approval", ...call });
      renderer.endLine();
      const lines = questionLines(call, { paint: out, whole });
      const more = !whole && isCut(call, out) ? [out.dim("  s shows all of it")] : [];
      screen.write([...lines, ...more, ""].join("\n"));
    },
    left: (calls) => {
      const lines = calls.flatMap((call) => waitingLines(call, { options: context.options }));
      tell([...lines, ...(ended ? [] : ["/approvals asks again."])].join("\n"));
    },
    prompt: (asked) => {
      if (asked === undefined || ended) screen.asked();
      else screen.ask(asked.prompt, asked.typed);
    },
  });
  const off = onInterrupts(
    streams.signals,
    () => session.hear({ type: "interrupt" }),
    () => session.hear({ type: "line", text: "/quit" }),
  );
  try {
    context.tell(context.err.dim(`session ${id} · /help`));
    await session.takeUp();
    idle(session);
    const at = await session.left;
    screen.close();
    await session.close();
    context.tell(
      context.err.dim(
        `${at === "idle" ? "Left." : "Left; the run goes on."} Take it up again: holdfast chat --session ${id}`,
      ),
    );
    return at === "idle" ? EXIT.ok : EXIT.interrupted;
  } finally {
    off();
  }
}
