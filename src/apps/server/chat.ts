import { setTimeout } from "node:timers/promises";
import { type Holdfast, HoldfastError, type Session, type WaitingCall } from "../../client/index.ts";
import { type Agents, chosen } from "./agents.ts";
import { type ChatPart, chatChunks, type Waiting } from "./chat-events.ts";
import { type ChatRequest, type ChatWish, wishOf } from "./chat-request.ts";
import type { Outlet } from "./outlet.ts";
import { isOurFault, problemOf, ServerProblem } from "./problem.ts";
import { Source } from "./source.ts";
import type { Statuses } from "./statuses.ts";
import type { Streams } from "./streams.ts";
import { UI_STREAM_DONE, UI_STREAM_HEADER, type UiChunk } from "./ui-chunk.ts";
import { type Asked as AskedCall, approvalId, endingOf } from "./ui-message.ts";

/** The longest of several waits for a loop that closes. */
const MAX_SETTLE_MS = 2_000;

export type Chat = {
  readonly holdfast: Holdfast;
  readonly streams: Streams;
  readonly agents: Agents;
  readonly statuses: Statuses;
};

export type Asked = {
  /** For the words of a problem. */
  readonly tried: string;
  readonly drop: () => void;
};

/** A page says something, and is told what comes of it. */
export async function answerChat(chat: Chat, request: ChatRequest, asked: Asked): Promise<Response> {
  const session = chat.holdfast.session(request.id);
  const part = await carryOut(chat, session, request, wishOf(request));
  return tellChat(chat, session, part, asked);
}

/** A page comes back to an answer that is being made; nothing when none is. */
export async function resumeChat(chat: Chat, id: string, asked: Asked): Promise<Response> {
  const session = chat.holdfast.session(id);
  const sinceMs = Date.now();
  const { open, status } = await chat.statuses.of(session);
  if (!open || status === "waiting") return new Response(null, { status: 204 });
  return tellChat(chat, session, { sinceMs }, asked);
}

async function carryOut(
  chat: Chat,
  session: Session,
  request: ChatRequest,
  wish: ChatWish,
): Promise<ChatPart> {
  if (wish.type === "answers") {
    await answerCalls(session, wish, request.by);
    return { goesOn: wish };
  }
  const before = await newestLoop(session);
  if (wish.type === "prompt") await prompt(chat, session, request, wish);
  else await session.rerun(wish.loopId === undefined ? {} : { loop: wish.loopId });
  return { isPast: (event) => "loopId" in event && event.loopId === before };
}

/** The loop that stands last before this request: what it said is on the page. */
async function newestLoop(session: Session): Promise<string | undefined> {
  try {
    return (await session.status()).loopId;
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "session-unknown") return undefined;
    throw error;
  }
}

async function prompt(
  { holdfast, agents }: Chat,
  session: Session,
  { agent: choice, mode }: ChatRequest,
  { text, messageId }: Extract<ChatWish, { type: "prompt" }>,
): Promise<void> {
  const how = { messageId, ...(mode === undefined ? {} : { mode }) };
  const named = choice === undefined ? undefined : chosen(agents, choice);
  try {
    await session.send(text, { ...how, ...(named === undefined ? {} : { agent: named }) });
  } catch (error) {
    const agent = named ?? chosen(agents, undefined);
    if (!(error instanceof HoldfastError) || error.code !== "session-unknown" || agent === undefined)
      throw error;
    await holdfast.start({ ...how, agent, prompt: text, session: session.id });
  }
}

/** Answers to questions that are asked no more are left out: what came of them is told by what follows. */
async function answerCalls(
  session: Session,
  { loopId, words }: Extract<ChatWish, { type: "answers" }>,
  by = "a page over HTTP",
): Promise<void> {
  const { approvals = [], loopId: newest } = await session.status();
  if (newest !== loopId) throw outOfDate(session.id);
  const waiting = new Set(approvals.map(approvalId));
  for (const { approvalId: id, toolCallId, approved, reason } of words) {
    if (!waiting.has(id)) continue;
    const why = reason === undefined ? {} : { reason };
    try {
      await (approved ? session.approve(toolCallId, { by }) : session.refuse(toolCallId, { ...why, by }));
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== "approval-unknown") throw error;
    }
  }
}

/** The message cannot go on from where the page is. */
function outOfDate(session: string): ServerProblem {
  return new ServerProblem(
    "chat-out-of-date",
    `Session ${session} has gone on elsewhere since that message. Load its messages again: GET /v1/chat/${session}.`,
  );
}

function tellChat(
  { streams, statuses }: Chat,
  session: Session,
  part: ChatPart,
  { tried, drop }: Asked,
): Response {
  const tell = async (outlet: Outlet): Promise<void> => {
    const events = new Source(session, "loop");
    events.closeWith(outlet.gone);
    try {
      const source = {
        events,
        isBehind: () => outlet.isBehind,
        waiting: () => waitingOf(statuses, session),
        ended: () => endingOfRun(session),
        settled: (loopId: string) => settled(statuses, session, loopId),
      };
      for await (const chunks of chatChunks(source, part)) await write(outlet, chunks);
    } catch (error) {
      if (isOurFault(error)) throw error;
      await write(outlet, [{ type: "error", errorText: problemOf(error, tried).detail }]);
    } finally {
      events.close();
    }
    await outlet.write(UI_STREAM_DONE);
  };
  const headers = { [UI_STREAM_HEADER.name]: UI_STREAM_HEADER.value };
  return streams.open({ headers, tell, atClose: "cut", drop });
}

async function write(outlet: Outlet, chunks: readonly UiChunk[]): Promise<void> {
  if (chunks.length === 0) return;
  await outlet.write(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""));
}

async function waitingOf(statuses: Statuses, session: Session): Promise<Waiting | undefined> {
  try {
    const { approvals = [], running = [], waitingBelow = 0 } = await statuses.of(session);
    const own = approvals.map((call) => ({ ...call, session: session.id, path: [] }));
    const all = waitingBelow === 0 ? own : await session.approvals();
    return { calls: all.map(shown), isAtWork: running.length > 0 };
  } catch (error) {
    // Who cannot be asked now is asked again later.
    if (error instanceof HoldfastError) return undefined;
    throw error;
  }
}

function shown(call: WaitingCall): AskedCall {
  const { session, path, toolCallId, tool, summary, reason, sinceMs, covers } = call;
  const covered = covers === undefined ? {} : { covers };
  return { session, path, toolCallId, tool, summary, reason, sinceMs, ...covered };
}

/** The run has an outcome also where its loop has recorded none. */
async function endingOfRun(session: Session): Promise<readonly UiChunk[]> {
  try {
    return endingOf((await session.result()).outcome);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return [
      { type: "error", errorText: error.message },
      { type: "finish", finishReason: "error" },
    ];
  }
}

/** A loop is closed a moment after its last event; a page that hears of its end may send the next prompt at once. */
async function settled(statuses: Statuses, session: Session, loopId: string): Promise<boolean> {
  for (let waitMs = 20; waitMs < MAX_SETTLE_MS; waitMs *= 2) {
    const now = await statuses.of(session).catch(() => undefined);
    if (now === undefined || !now.open || now.status === "waiting") return true;
    if (now.loopId !== loopId) return false;
    await setTimeout(waitMs);
  }
  return true;
}
