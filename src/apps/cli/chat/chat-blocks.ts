import type { AgentEvent } from "../../../client/index.ts";
import { PROGRESS_SOURCES } from "../../../client/read/progress-sources.ts";
import type { AssistantMessage, Message } from "../../../schema/message.ts";
import { getMessageText, joinText } from "../../../schema/message-text.ts";
import { describeEvent, type NoticeTone } from "../event-notice.ts";
import { describeOutcome, summarizeCall } from "../text.ts";
import { formatTokens } from "./status-line.ts";
import { appendOutput, EMPTY_OUTPUT, type ToolOutput } from "./tool-output.ts";

// The conversation as a list of blocks, built from the session's events without terminal I/O.
//
// Invariants
//   I1. A block keeps its number, and a block that an event does not change stays the same object.
//   I2. An answer has one block: its live text is replaced by the recorded message.
//   I3. The list is bounded: the oldest blocks leave it.

/** A piece of an answer. Of a call that the model is still writing, only the size is displayed. */
export type AnswerPiece =
  | { readonly type: "text" | "thinking"; readonly text: string }
  | { readonly type: "call"; readonly name: string; readonly chars: number };

export type ChatBlock = { readonly number: number } & (
  | { readonly type: "user"; readonly text: string }
  | {
      readonly type: "answer";
      readonly loopId: string;
      readonly pieces: readonly AnswerPiece[];
      readonly isComplete: boolean;
    }
  | {
      readonly type: "tool";
      readonly toolCallId: string;
      readonly name: string;
      readonly summary: string;
      readonly state: "running" | "done" | "failed";
      readonly output: ToolOutput;
      /** Absent if the start was not observed. */
      readonly startedAtMs?: number;
      readonly endedAtMs?: number;
    }
  | { readonly type: "notice"; readonly tone: NoticeTone; readonly text: string }
);

export type ChatBlocks = { readonly blocks: readonly ChatBlock[]; readonly nextNumber: number };

export const NO_BLOCKS: ChatBlocks = { blocks: [], nextNumber: 0 };

/** When there are more blocks than this, the oldest leave, down to the minimum: the terminal keeps what it has printed. */
export const MAX_BLOCKS = 260;
const MIN_BLOCKS = 200;

type BlockContent = ChatBlock extends infer One
  ? One extends ChatBlock
    ? Omit<One, "number">
    : never
  : never;
type BlockOfType<Type extends ChatBlock["type"]> = Extract<ChatBlock, { type: Type }>;

export function addNotice(chat: ChatBlocks, text: string, tone: NoticeTone): ChatBlocks {
  return append(chat, { type: "notice", tone, text });
}

/** @param atMs - When the event arrived. Absent for past events, whose durations are unknown. */
export function stepBlocks(chat: ChatBlocks, event: AgentEvent, atMs?: number): ChatBlocks {
  switch (event.type) {
    case "MessageUpdate":
      return showAnswer(chat, event.loopId, event.message, false);
    case "MessageEnd":
      return showMessage(chat, event.loopId, event.message);
    case "ToolExecutionStart":
      return startCall(chat, event, summarizeCall(event.args), atMs);
    case "ToolExecutionUpdate": {
      const started = startCall(chat, event, "", atMs);
      return changeCall(started, event.toolCallId, (call) => ({
        ...call,
        output: appendOutput(call.output, joinText(event.partialResult.content)),
      }));
    }
    case "ToolExecutionEnd":
      return changeCall(startCall(chat, event, "", undefined), event.toolCallId, (call) => ({
        ...call,
        state: event.isError ? "failed" : "done",
        output: appendOutput(EMPTY_OUTPUT, joinText(event.result.content)),
        ...(atMs === undefined ? {} : { endedAtMs: atMs }),
      }));
    case "ProgressMessage":
      return showProgress(chat, event, atMs);
    case "CompactionEnded": {
      const [before, after] = [event.estimatedTokensBefore, event.estimatedTokensAfter].map(formatTokens);
      return addNotice(chat, `context compacted: ${before} → ${after} tokens`, "info");
    }
    case "AgentEnd": {
      const { outcome } = event;
      const ended = completeAnswers(chat, event.loopId);
      if (outcome === undefined || (outcome.type === "answered" && outcome.stopReason === "stop"))
        return ended;
      return addNotice(ended, describeOutcome(outcome), outcome.type === "failed" ? "error" : "warning");
    }
    default: {
      const notice = describeEvent(event);
      return notice === undefined ? chat : addNotice(chat, notice.text, notice.tone);
    }
  }
}

function showMessage(chat: ChatBlocks, loopId: string, message: Message): ChatBlocks {
  switch (message.role) {
    case "user":
      return append(chat, { type: "user", text: getMessageText(message) });
    case "assistant": {
      const shown = showAnswer(chat, loopId, message, true);
      return message.errorMessage === undefined ? shown : addNotice(shown, message.errorMessage, "error");
    }
    case "toolResult":
      return chat;
  }
}

/** Shows what there is of an answer; one without a text has no block when it is complete. */
function showAnswer(
  chat: ChatBlocks,
  loopId: string,
  message: AssistantMessage,
  isComplete: boolean,
): ChatBlocks {
  const pieces = toPieces(message, isComplete);
  const index = chat.blocks.findLastIndex(
    (block) => block.type === "answer" && block.loopId === loopId && !block.isComplete,
  );
  const live = chat.blocks[index];
  if (live === undefined)
    return pieces.length === 0 ? chat : append(chat, { type: "answer", loopId, pieces, isComplete });
  if (pieces.length === 0) return { ...chat, blocks: chat.blocks.toSpliced(index, 1) };
  const answer: ChatBlock = { type: "answer", number: live.number, loopId, pieces, isComplete };
  return { ...chat, blocks: chat.blocks.with(index, answer) };
}

function toPieces({ content }: AssistantMessage, isComplete: boolean): readonly AnswerPiece[] {
  return content.flatMap((part): readonly AnswerPiece[] => {
    switch (part.type) {
      case "text":
        return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
      case "thinking":
        return part.thinking.trim() === "" ? [] : [{ type: "thinking", text: part.thinking }];
      case "toolCall":
        return isComplete
          ? []
          : [{ type: "call", name: part.name, chars: String(part.arguments ?? "").length }];
      default:
        return [];
    }
  });
}

/** An answer that was cut off stays as it is. */
function completeAnswers(chat: ChatBlocks, loopId: string): ChatBlocks {
  if (!chat.blocks.some((block) => block.type === "answer" && block.loopId === loopId && !block.isComplete))
    return chat;
  const blocks = chat.blocks.map((block) =>
    block.type === "answer" && block.loopId === loopId && !block.isComplete
      ? { ...block, isComplete: true }
      : block,
  );
  return { ...chat, blocks };
}

function startCall(
  chat: ChatBlocks,
  { toolCallId, toolName }: { readonly toolCallId: string; readonly toolName: string },
  summary: string,
  atMs: number | undefined,
): ChatBlocks {
  if (findRunningCall(chat, toolCallId) !== undefined) return chat;
  return append(chat, {
    type: "tool",
    toolCallId,
    name: toolName,
    summary,
    state: "running",
    output: EMPTY_OUTPUT,
    ...(atMs === undefined ? {} : { startedAtMs: atMs }),
  });
}

/** Ids of calls can repeat in later turns, but not among running calls. */
function findRunningCall(chat: ChatBlocks, toolCallId: string): BlockOfType<"tool"> | undefined {
  return chat.blocks.findLast(
    (block): block is BlockOfType<"tool"> =>
      block.type === "tool" && block.toolCallId === toolCallId && block.state === "running",
  );
}

function changeCall(
  chat: ChatBlocks,
  toolCallId: string,
  change: (call: BlockOfType<"tool">) => ChatBlock,
): ChatBlocks {
  const call = findRunningCall(chat, toolCallId);
  if (call === undefined) return chat;
  return { ...chat, blocks: chat.blocks.with(chat.blocks.lastIndexOf(call), change(call)) };
}

const SOURCES_WITHOUT_CALL: readonly string[] = Object.values(PROGRESS_SOURCES);

function showProgress(
  chat: ChatBlocks,
  event: Extract<AgentEvent, { type: "ProgressMessage" }>,
  atMs: number | undefined,
): ChatBlocks {
  if (SOURCES_WITHOUT_CALL.includes(event.toolCallId)) return addNotice(chat, event.text.trimEnd(), "info");
  return changeCall(startCall(chat, event, "", atMs), event.toolCallId, (call) => ({
    ...call,
    output: appendOutput(call.output, `${event.text.trimEnd()}\n`),
  }));
}

function append(chat: ChatBlocks, content: BlockContent): ChatBlocks {
  const block = { ...content, number: chat.nextNumber } as ChatBlock;
  const blocks = [...chat.blocks, block];
  return {
    blocks: blocks.length > MAX_BLOCKS ? blocks.slice(-MIN_BLOCKS) : blocks,
    nextNumber: chat.nextNumber + 1,
  };
}
