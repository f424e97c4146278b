import { formatApprovalRequest, formatWaitingCall, isTruncated } from "../approval-view.ts";
import { ChatSession } from "../chat-session.ts";
import { formatStatusRows } from "../commands/status.ts";
import { readFileMentions } from "../file-mentions.ts";
import { InputScreen } from "../input-screen.ts";
import { handleInterrupts } from "../interrupts.ts";
import { Renderer } from "../render.ts";
import { type ChatPhase, formatChatHelp } from "../step-chat.ts";
import type { ChatSetup } from "./chat-setup.ts";

/**
 * Chats line by line: with piped input, with `--json`, and at a terminal that cannot move the cursor.
 *
 * @returns What the agent was doing when the user left.
 */
export async function runLineChat(setup: ChatSetup): Promise<ChatPhase> {
  const { context, holdfast, session: id, agent, title, onSending } = setup;
  const { streams, out } = context;
  let ended = false;
  const ownPrompts = new Set<string>();
  const screen: InputScreen = new InputScreen(streams.stdin, streams.stdout, {
    onLine: (text) => {
      ownPrompts.add(text.trim());
      session.handleEvent({ type: "line", text });
    },
    onInterrupt: () => session.handleEvent({ type: "interrupt" }),
    onEnd: () => {
      ended = true;
      session.endInput();
      session.waitUntilIdle().then(
        () => session.leave(),
        () => session.leave(),
      );
    },
  });
  const renderer = new Renderer({ write: (text) => screen.write(text), paint: out, ownPrompts });
  let phase: ChatPhase = "idle";
  const showPrompt = (): void => {
    if (phase === "idle" && !ended) screen.setReady();
  };
  const report = (text: string): void => {
    if (context.json) context.printJson({ type: "notice", text });
    else screen.write(`${out.yellow(text)}\n`);
    showPrompt();
  };
  const session = new ChatSession(
    holdfast,
    id,
    { agent, title },
    {
      help: formatChatHelp(["Ctrl-C stops the run; a second Ctrl-C exits."]),
      show: (item) => (context.json ? context.printEvent(item) : renderer.show(item.event)),
      report,
      sending: (_, text) => {
        ownPrompts.add(text.trim());
        onSending();
      },
      onPhase: (next) => {
        phase = next;
        if (next === "idle") {
          renderer.endLine();
          showPrompt();
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
    },
    // Piped text may come from anyone.
    streams.stdin.isTTY === true && !context.json
      ? (text) => readFileMentions(text, agent?.workspace ?? process.cwd())
      : undefined,
  );
  const off = handleInterrupts(
    streams.signals,
    () => session.handleEvent({ type: "interrupt" }),
    () => session.leave(),
  );
  try {
    context.report(context.err.dim(`session ${id} · /help`));
    await session.attach();
    showPrompt();
    const at = await session.left;
    screen.close();
    await session.close();
    return at;
  } finally {
    off();
  }
}
