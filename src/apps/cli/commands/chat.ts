import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { type AgentFlags, addAgentFlags, buildDefinition } from "../agent-flags.ts";
import { formatApprovalRequest, formatWaitingCall, isTruncated } from "../approval-view.ts";
import { ChatSession } from "../chat-session.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { InputScreen } from "../input-screen.ts";
import { handleInterrupts } from "../interrupts.ts";
import { openStack } from "../local-stack.ts";
import { formatProblem } from "../problem-view.ts";
import { Renderer } from "../render.ts";
import { showTrustNotice } from "../trust-notice.ts";
import { formatStatusRows } from "./status.ts";

type Flags = AgentFlags & { readonly session?: string };

export function configureChatCommand(command: Command, runAction: RunAction): void {
  command.option(
    "--session <id>",
    "resume this session; its definition is used unless you give --model or --agent",
  );
  addAgentFlags(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast chat --model anthropic/claude-sonnet-4-5
  $ holdfast chat --agent agent.toml
  $ holdfast chat --session 5f0c…

While the agent runs, a line steers it, "/f TEXT" queues a follow-up, Ctrl-C stops the run and a second Ctrl-C exits.
A call that needs approval is displayed: y, n, a (always), e (edit the arguments); Ctrl-C leaves it unanswered.
Other commands: /stop /status /approvals /quit /help. Without a terminal, pipe lines to standard input.`,
    )
    .action(async (flags: Flags) => runAction((context) => chat(context, flags)));
}

async function chat(context: Context, flags: Flags): Promise<number> {
  const { streams } = context;
  const resumes = flags.session !== undefined && flags.model === undefined && flags.agent === undefined;
  const made = resumes ? undefined : buildDefinition(flags, { cwd: process.cwd(), env: streams.env });
  if (made !== undefined) showTrustNotice(context, flags);
  for (const warning of made?.warnings ?? []) context.report(context.err.yellow(warning));
  for (const problem of made?.problems ?? []) context.report(formatProblem(problem, context.err).join("\n"));
  const id = flags.session ?? randomUUID();
  const stack = await openStack(context);
  try {
    return await runChat(context, stack.holdfast, id, made?.agent);
  } finally {
    await stack.close();
  }
}

async function runChat(
  context: Context,
  holdfast: ConstructorParameters<typeof ChatSession>[0],
  id: string,
  agent: ConstructorParameters<typeof ChatSession>[2],
): Promise<number> {
  const { streams, out } = context;
  let ended = false;
  const screen: InputScreen = new InputScreen(streams.stdin, streams.stdout, {
    onLine: (text) => {
      ownWords.add(text.trim());
      session.handleEvent({ type: "line", text });
    },
    onInterrupt: () => session.handleEvent({ type: "interrupt" }),
    onEnd: () => {
      ended = true;
      session.endInput();
      session.waitUntilIdle().then(
        () => session.handleEvent({ type: "line", text: "/quit" }),
        () => session.handleEvent({ type: "line", text: "/quit" }),
      );
    },
  });
  const ownWords = new Set<string>();
  const renderer = new Renderer({ write: (text) => screen.write(text), paint: out, ownPrompts: ownWords });
  const report = (text: string): void => {
    if (context.json) context.printJson({ type: "notice", text });
    else screen.write(`${out.yellow(text)}\n`);
    ignoreLine(session);
  };
  const ignoreLine = (_: unknown): void => {
    if (phase === "idle" && !ended) screen.setReady();
  };
  let phase: "idle" | "running" | "stopping" = "idle";
  const session = new ChatSession(holdfast, id, agent, {
    show: (item) => (context.json ? context.printEvent(item) : renderer.show(item.event)),
    report,
    onPhase: (next) => {
      phase = next;
      if (next === "idle") {
        renderer.endLine();
        ignoreLine(session);
      } else screen.setBusy();
    },
    showStatus: async (at) =>
      report(
        (await formatStatusRows(at, await at.status(), context.options))
          .map(([name, value]) => `${name}: ${value}`)
          .join("\n"),
      ),
    showApproval: (call, whole) => {
      if (context.json) return context.printJson({ type: "needs-approval", ...call });
      renderer.endLine();
      const lines = formatApprovalRequest(call, { paint: out, whole });
      const more = !whole && isTruncated(call, out) ? [out.dim("  s displays all of it")] : [];
      screen.write([...lines, ...more, ""].join("\n"));
    },
    left: (calls) => {
      const lines = calls.flatMap((call) => formatWaitingCall(call, { options: context.options }));
      report([...lines, ...(ended ? [] : ["/approvals displays them again."])].join("\n"));
    },
    prompt: (asked) => {
      if (asked === undefined || ended) screen.endQuestion();
      else screen.ask(asked.prompt, asked.typed);
    },
  });
  const off = handleInterrupts(
    streams.signals,
    () => session.handleEvent({ type: "interrupt" }),
    () => session.handleEvent({ type: "line", text: "/quit" }),
  );
  try {
    context.report(context.err.dim(`session ${id} · /help`));
    await session.attach();
    ignoreLine(session);
    const at = await session.left;
    screen.close();
    await session.close();
    context.report(
      context.err.dim(
        `${at === "idle" ? "Left." : "Left; the run continues."} To resume: holdfast chat --session ${id}`,
      ),
    );
    return at === "idle" ? EXIT.ok : EXIT.interrupted;
  } finally {
    off();
  }
}
