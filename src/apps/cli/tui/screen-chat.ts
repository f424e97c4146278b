import { resolveHome } from "../../../config/home.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { formatWaitingCall } from "../approval-view.ts";
import { findCommand } from "../chat/chat-commands.ts";
import type { ChatSetup } from "../chat/chat-setup.ts";
import { PromptHistory } from "../chat/prompt-history.ts";
import { readPast } from "../chat/read-past.ts";
import { StatusPoller } from "../chat/status-poller.ts";
import { WorkspaceFiles } from "../chat/workspace-files.ts";
import { ChatSession } from "../chat-session.ts";
import { formatStatusRows } from "../commands/status.ts";
import { readFileMentions } from "../file-mentions.ts";
import { handleInterrupts } from "../interrupts.ts";
import { isColoured, stripPaint } from "../palette.ts";
import { type ChatPhase, formatChatHelp } from "../step-chat.ts";
import { shortenText } from "../text.ts";
import { ChatCompletion } from "./chat-completion.ts";
import { ChatScreen } from "./chat-screen.ts";
import { createChatTheme } from "./chat-theme.ts";

const KEYS_HELP = [
  "Enter sends; \\ Enter, Alt-Enter or Shift-Enter begins a new line. A paste is one message.",
  "Up and Down: earlier messages · Ctrl-R: search them · Tab: complete · Ctrl-O: show more",
  "@FILE attaches a file, and so does the path of an image that you paste or drop; Ctrl-X removes the last. \\@FILE is text.",
  "Ctrl-C clears what is typed, then stops the run, then exits. Ctrl-D exits, Ctrl-Z suspends the chat.",
];

/** How much of a session's id names it in the status line. */
const SESSION_CHARS = 24;
const UUID_CHARS = 8;

/**
 * Chats on a screen: a terminal that can move the cursor.
 *
 * @returns What the agent was doing when the user left.
 */
export async function runScreenChat(setup: ChatSetup): Promise<ChatPhase> {
  const { context, holdfast, session: id, agent, title, isResumed, onSending } = setup;
  const { streams, options } = context;
  const history = PromptHistory.open(resolveHome(options.home).folder, streams.env);
  const folder = agent?.workspace ?? process.cwd();
  const files = new WorkspaceFiles(folder);
  const { id: model, contextWindow } = agent?.model ?? {};
  const screen = new ChatScreen({
    theme: createChatTheme(isColoured(streams.stdout, streams.env)),
    facts: { session: formatSession(id), pending: [], ...omitUndefined({ model, contextWindow }) },
    completion: new ChatCompletion(() => files.list()),
    folder,
    history: history.entries,
    listeners: {
      onMessage: (text) => {
        // Nobody looks for a command in the next chat.
        if (findCommand(text.trim().split(/\s/, 1)[0] ?? "") === undefined) history.add(text);
        chat.handleMessage(text);
      },
      onAnswer: (line) => chat.answerQuestion(line),
      onPostpone: () => chat.postponeQuestion(),
      onInterrupt: () => chat.interrupt(),
      onLeave: () => chat.leave(),
    },
  });
  const poller = new StatusPoller(
    () => holdfast.session(id).status(),
    (status) => screen.showStatus(status),
  );
  const chat = new ChatSession(
    holdfast,
    id,
    { agent, title },
    {
      help: formatChatHelp(KEYS_HELP),
      show: ({ event }) => {
        screen.showEvent(event, Date.now());
        if (event.type === "TurnEnd") poller.poll();
      },
      report: (text, tone) => screen.report(text, tone),
      onPhase: (phase) => {
        screen.setPhase(phase);
        poller.setRunning(phase !== "idle");
      },
      showStatus: async (session) => {
        const rows = await formatStatusRows(session, await session.status(), options);
        screen.report(rows.map(([name, value]) => `${name}: ${value}`).join("\n"), "info");
      },
      showApproval: (call, whole) => screen.askApproval(call, whole),
      left: (calls) => {
        const lines = calls.flatMap((call) => formatWaitingCall(call, { options }));
        screen.report([...lines, "/approvals displays them again."].join("\n"));
      },
      prompt: (prompt) => screen.setPrompt(prompt),
      sending: (message, text) => {
        onSending();
        screen.addPending(message, text);
      },
      notSent: (message) => screen.returnPending(message),
      onAnswer: (call, answer) => screen.showAnswer(call, answer),
      onWaiting: (calls) => screen.setWaiting(calls),
    },
    (text) => readFileMentions(text, folder),
  );
  const off = handleInterrupts(
    streams.signals,
    () => chat.interrupt(),
    () => chat.leave(),
  );
  const leaveAtEnd = (): void => chat.leave();
  streams.stdin.once("end", leaveAtEnd);
  context.report(context.err.dim(`session ${id} · /help`));
  try {
    if (isResumed) await showPast();
    context.redirectReports((line) => screen.report(stripPaint(line)));
    screen.start();
    await chat.attach("loop");
    return await chat.left;
  } finally {
    await screen.stop();
    context.redirectReports();
    streams.stdin.off("end", leaveAtEnd);
    off();
    await poller.stop();
    await chat.close();
  }

  /** A session that does not exist yet has no past; what cannot be read now does not prevent the chat. */
  async function showPast(): Promise<void> {
    const session = holdfast.session(id);
    const status = await session.status().catch(() => undefined);
    if (status === undefined) return;
    try {
      for (const event of await readPast(session, status)) screen.showEvent(event);
    } catch (error) {
      screen.report(`The last messages cannot be read: ${(error as Error).message}`);
    }
    screen.showStatus(status);
  }
}

function formatSession(id: string): string {
  return /^[\da-f]{8}-/.test(id) ? id.slice(0, UUID_CHARS) : shortenText(id, SESSION_CHARS);
}
