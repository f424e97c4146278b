import type { AgentMessage, AssistantMessage, UserMessage } from "../../schema/message.ts";
import { estimateMessage } from "../estimate.ts";
import { cutToolResult } from "./cut-text.ts";
import { cutBefore, pairUp } from "./pairs.ts";
import { middleRemovedText, removedText, saidBy, standIn } from "./stand-in.ts";
import type { TokenCounter } from "./token-counter.ts";

// The tiered strategy: three levels, each harsher, until the messages fit (CTX-11).
//
// Invariants
//   T1. The estimated total of the result is at most the budget, for any input (CTX-15).
//   T2. A call and its result stay together or go together.
//   T3. What fits comes back as it is, so that compacting twice is compacting once.

export type TieredOptions = {
  /** Tokens of messages. */
  readonly budget: number;
  /** Messages that level 3 keeps from the beginning. */
  readonly keepFirst: number;
  /** Messages that levels 2 and 3 keep from the end, and a few more where a pair would be parted. */
  readonly keepRecent: number;
  readonly toolOutputMaxLines: number;
  readonly count?: TokenCounter;
};

export function compactTiered(
  messages: readonly AgentMessage[],
  options: TieredOptions,
): readonly AgentMessage[] {
  const fits = (candidate: readonly AgentMessage[]) => total(candidate, options) <= options.budget;
  if (fits(messages)) return messages;
  const cut = messages.map((message) => cutToolResult(message, options.toolOutputMaxLines));
  if (fits(cut)) return cut;
  const summarised = summariseOld(cut, options.keepRecent);
  if (fits(summarised)) return summarised;
  const dropped = dropMiddle(summarised, options);
  if (dropped !== undefined && fits(dropped)) return dropped;
  return keepNewest(summarised, options);
}

function total(messages: readonly AgentMessage[], { count = estimateMessage }: TieredOptions): number {
  return messages.reduce((sum, message) => sum + count(message), 0);
}

/** CTX-13. Words of people and of applications stay. */
function summariseOld(messages: readonly AgentMessage[], keepRecent: number): readonly AgentMessage[] {
  const recent = cutBefore(pairUp(messages), Math.max(0, messages.length - keepRecent));
  const old = messages.slice(0, recent).filter(({ role }) => role !== "toolResult");
  const summarised = old.map((message) => (message.role === "assistant" ? summaryOf(message) : message));
  return [...summarised, ...messages.slice(recent)];
}

function summaryOf(answer: AssistantMessage): UserMessage {
  const summary = standIn(`[Summary] ${saidBy(answer)}`, answer.timestamp);
  return answer.turnId === undefined ? summary : { ...summary, turnId: answer.turnId };
}

/**
 * CTX-14: the beginning, a marker, the end; nothing when there is no middle.
 *
 * @param messages - Summarised: answers stand only among those kept from the end, so that the beginning parts no pair.
 */
function dropMiddle(
  messages: readonly AgentMessage[],
  { keepFirst, keepRecent }: TieredOptions,
): readonly AgentMessage[] | undefined {
  const first = Math.min(keepFirst, messages.length);
  const recent = cutBefore(pairUp(messages), Math.max(0, messages.length - keepRecent));
  if (first >= recent) return undefined;
  const marker = standIn(middleRemovedText(recent - first), messages[recent - 1]?.timestamp ?? 0);
  return [...messages.slice(0, first), marker, ...messages.slice(recent)];
}

/** CTX-14's last resort. The marker's cost is set aside first (X-13); without room for it there is none. */
function keepNewest(messages: readonly AgentMessage[], options: TieredOptions): readonly AgentMessage[] {
  const { count = estimateMessage, budget } = options;
  const timestamp = messages.at(-1)?.timestamp ?? 0;
  const reserved = count(standIn(removedText(messages.length), timestamp));
  const marked = reserved <= budget;
  const kept = newestWithin(messages, marked ? budget - reserved : budget, count);
  return marked ? [standIn(removedText(messages.length - kept.length), timestamp), ...kept] : kept;
}

/** The newest messages that fit, whole answers with their results; results that nobody asked for are left out. */
function newestWithin(
  messages: readonly AgentMessage[],
  budget: number,
  count: TokenCounter,
): readonly AgentMessage[] {
  const { joined, orphans } = pairUp(messages);
  let keepFrom = messages.length;
  let used = 0;
  for (let index = messages.length - 1; index >= 0; index--) {
    if (!orphans.has(index)) used += count(messages[index] as AgentMessage);
    if (used > budget) break;
    if (joined[index] !== true) keepFrom = index;
  }
  return messages.filter((_, index) => index >= keepFrom && !orphans.has(index));
}
