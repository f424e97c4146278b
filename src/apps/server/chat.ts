import { setTimeout } from "node:timers/promises";
import { type Holdfast, HoldfastError, type Session, type WaitingCall } from "../../client/index.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { type ChatSegment, streamChatChunks, type WaitingCalls } from "./chat-chunks.ts";
import { type ChatIntent, type ChatRequest, parseIntent } from "./chat-request.ts";
import type { OpenStreams } from "./open-streams.ts";
import { isInternalError, ServerProblem, toProblem } from "./problem.ts";
import type { ResponseStream } from "./response-stream.ts";
import { type ServedAgents, selectAgent } from "./served-agents.ts";
import { SessionEventReader } from "./session-event-reader.ts";
import type { StatusReader } from "./status-reader.ts";
import { UI_STREAM_DONE, UI_STREAM_HEADER, type UiChunk } from "./ui-chunk.ts";
import { type TimedWaitingCall as AskedCall, formatApprovalId, toEndingChunks } from "./ui-message.ts";

/** The longest of the waits for a loop to close. */
const MAX_SETTLE_MS = 2_000;

export type Chat = {
  readonly holdfast: Holdfast;
  readonly streams: OpenStreams;
  readonly agents: ServedAgents;
  readonly statuses: StatusReader;
};

export type ChatCaller = {
  /** The request, for the text of a problem. */
  readonly target: string;
  readonly drop: () => void;
};

/** Handles a page's message, and streams the response. */
export async function handleChat(chat: Chat, request: ChatRequest, caller: ChatCaller): Promise<Response> {
  const session = chat.holdfast.session(request.id);
  const part = await performIntent(chat, session, request, parseIntent(request));
  return streamChat(chat, session, part, caller);
}

/** Resumes the stream of an answer in progress; nothing if there is none. */
export async function resumeChat(chat: Chat, id: string, caller: ChatCaller): Promise<Response> {
  const session = chat.holdfast.session(id);
  const sinceMs = Date.now();
  const { open, status } = await chat.statuses.read(session);
  if (!open || status === "waiting") return new Response(null, { status: 204 });
  return streamChat(chat, session, { sinceMs }, caller);
}

async function performIntent(
  chat: Chat,
  session: Session,
  request: ChatRequest,
  intent: ChatIntent,
): Promise<ChatSegment> {
  if (intent.type === "answers") {
    await answerApprovals(session, intent, request.by);
    return { continuesFrom: intent };
  }
  const before = await findNewestLoop(session);
  if (intent.type === "prompt") await sendPrompt(chat, session, request, intent);
  else await session.branches.rerun(omitUndefined({ loop: intent.loopId }));
  return { isPast: (event) => "loopId" in event && event.loopId === before };
}

/** Finds the last loop before this request: the page already has its messages. */
async function findNewestLoop(session: Session): Promise<string | undefined> {
  try {
    return (await session.status()).loopId;
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "session-unknown") return undefined;
    throw error;
  }
}

async function sendPrompt(
  { holdfast, agents }: Chat,
  session: Session,
  { agent: choice, mode }: ChatRequest,
  { prompt, messageId }: Extract<ChatIntent, { type: "prompt" }>,
): Promise<void> {
  const promptOptions = { messageId, ...omitUndefined({ mode }) };
  const agentOption = choice === undefined ? undefined : selectAgent(agents, choice);
  try {
    await session.send(prompt, {
      ...promptOptions,
      ...omitUndefined({ agent: agentOption }),
    });
  } catch (error) {
    const agent = agentOption ?? selectAgent(agents, undefined);
    if (!(error instanceof HoldfastError) || error.code !== "session-unknown" || agent === undefined)
      throw error;
    await holdfast.start({ ...promptOptions, agent, prompt, session: session.id });
  }
}

/** Sends the answers. Skips questions that are no longer pending: the following events report their outcome. */
async function answerApprovals(
  session: Session,
  { loopId, answers }: Extract<ChatIntent, { type: "answers" }>,
  by = "an HTTP page",
): Promise<void> {
  const { approvals = [], loopId: newest } = await session.status();
  if (newest !== loopId) throw createStaleChatProblem(session.id);
  const waiting = new Set(approvals.map(formatApprovalId));
  for (const { approvalId: id, toolCallId, approved, reason } of answers) {
    if (!waiting.has(id)) continue;
    const denyOptions = omitUndefined({ reason });
    try {
      await (approved
        ? session.approvals.approve(toolCallId, { by })
        : session.approvals.deny(toolCallId, { ...denyOptions, by }));
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== "approval-unknown") throw error;
    }
  }
}

/** Creates the problem for a page with outdated messages. */
function createStaleChatProblem(session: string): ServerProblem {
  return new ServerProblem(
    "chat-stale",
    `Session ${session} has continued elsewhere since that message. Reload its messages: GET /v1/chat/${session}.`,
  );
}

function streamChat(
  { streams, statuses }: Chat,
  session: Session,
  part: ChatSegment,
  { target, drop }: ChatCaller,
): Response {
  const writeChat = async (outlet: ResponseStream): Promise<void> => {
    const events = new SessionEventReader(session, "loop");
    events.closeOnAbort(outlet.closedSignal);
    try {
      const source = {
        events,
        isLagging: () => outlet.isLagging,
        readWaiting: () => readWaitingCalls(statuses, session),
        readEnding: () => readEnding(session),
        waitUntilClosed: (loopId: string) => waitUntilClosed(statuses, session, loopId),
      };
      for await (const chunks of streamChatChunks(source, part)) await writeChunks(outlet, chunks);
    } catch (error) {
      if (isInternalError(error)) throw error;
      await writeChunks(outlet, [{ type: "error", errorText: toProblem(error, target).detail }]);
    } finally {
      events.close();
    }
    await outlet.write(UI_STREAM_DONE);
  };
  const headers = { [UI_STREAM_HEADER.name]: UI_STREAM_HEADER.value };
  return streams.open({ headers, write: writeChat, atClose: "cut", drop });
}

async function writeChunks(outlet: ResponseStream, chunks: readonly UiChunk[]): Promise<void> {
  if (chunks.length === 0) return;
  await outlet.write(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""));
}

async function readWaitingCalls(statuses: StatusReader, session: Session): Promise<WaitingCalls | undefined> {
  try {
    const { approvals = [], running = [], waitingBelow = 0 } = await statuses.read(session);
    const own = approvals.map((call) => ({ ...call, session: session.id, path: [] }));
    const all = waitingBelow === 0 ? own : await session.approvals.list();
    return { calls: all.map(toPageCall), isWorking: running.length > 0 };
  } catch (error) {
    // A run that cannot answer now is asked again later.
    if (error instanceof HoldfastError) return undefined;
    throw error;
  }
}

function toPageCall(call: WaitingCall): AskedCall {
  const { session, path, toolCallId, tool, summary, reason, sinceMs, grantDescriptions } = call;
  const covered = omitUndefined({ grantDescriptions });
  return { session, path, toolCallId, tool, summary, reason, sinceMs, ...covered };
}

/** Returns the ending of a run, which has an outcome even if its loop has recorded none. */
async function readEnding(session: Session): Promise<readonly UiChunk[]> {
  try {
    return toEndingChunks((await session.tryResult()).outcome);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return [
      { type: "error", errorText: error.message },
      { type: "finish", finishReason: "error" },
    ];
  }
}

/** Waits until a loop is closed, shortly after its last event, so that a page may send the next prompt at once. */
async function waitUntilClosed(statuses: StatusReader, session: Session, loopId: string): Promise<boolean> {
  for (let waitMs = 20; waitMs < MAX_SETTLE_MS; waitMs *= 2) {
    const now = await statuses.read(session).catch(() => undefined);
    if (now === undefined || !now.open || now.status === "waiting") return true;
    if (now.loopId !== loopId) return false;
    await setTimeout(waitMs);
  }
  return true;
}
