// Counts everything that the demo promises from records: the transcript, the model server's ledger, and the file of the
// unsafe command. The functions are pure, so that a test can prove that each count can differ from 0.

/** @param sent - `{ id, text }` of each message that the user sent. */
export function countMessages({ sent, entries, length, forked }) {
  const ids = countValues(entries.flatMap(({ messageId }) => messageId ?? []));
  const positions = countValues(entries.map(({ position }) => position));
  const { unanswered, answeredTwice } = countResults(entries);
  return {
    lost:
      sent.filter(({ id }) => !ids.has(id)).length +
      Array.from({ length }, (_, position) => position).filter((position) => !positions.has(position))
        .length +
      unanswered,
    duplicated:
      sent.reduce((sum, { id }) => sum + Math.max(0, (ids.get(id) ?? 0) - 1), 0) +
      countExcess(positions) +
      answeredTwice +
      forked,
  };
}

/** Checks that each call of an answer has one result before the next answer. */
function countResults(entries) {
  let unanswered = 0;
  let answeredTwice = 0;
  const messages = entries.map(({ message }) => message).filter(({ role }) => role !== "user");
  for (const [index, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    const next = messages.findIndex(({ role }, at) => at > index && role === "assistant");
    const results = messages.slice(index + 1, next === -1 ? undefined : next);
    for (const call of message.content.filter(({ type }) => type === "toolCall")) {
      const found = results.filter(({ toolCallId }) => toolCallId === call.id).length;
      if (found === 0) unanswered += 1;
      answeredTwice += Math.max(0, found - 1);
    }
  }
  return { unanswered, answeredTwice };
}

/** Compares the newest request to the model with the sent messages and with the transcript. */
export function countModelMessages({ sent, entries, body }) {
  const blocks = body.messages.flatMap(({ content }) =>
    typeof content === "string" ? [{ type: "text", text: content }] : content,
  );
  const shownTexts = blocks.filter(({ type }) => type === "text").map(({ text }) => text);
  const texts = sent.map(({ text }) => shownTexts.filter((one) => one === text).length);
  const results = countValues(
    blocks.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : [])),
  );
  const uses = countValues(blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : [])));
  const knownCallIds = new Set(
    entries.flatMap(({ message }) => (message.role === "toolResult" ? [message.toolCallId] : [])),
  );
  return {
    lost:
      texts.filter((times) => times === 0).length +
      [...knownCallIds].filter((id) => !results.has(id) || !uses.has(id)).length,
    duplicated:
      texts.reduce((sum, times) => sum + Math.max(0, times - 1), 0) +
      countExcess(results) +
      countExcess(uses),
  };
}

/**
 * Counts how often an unsafe command ran without a call that requested it.
 *
 * @param lines - The lines of the file to which each start appends; a line contains the call's id.
 * @param approvedCount - How many tool calls of the transcript request the command.
 */
export function countUnsafe(lines, approvedCount) {
  return Math.max(countExcess(countValues(lines)), lines.length - approvedCount, 0);
}

/**
 * Counts answers. Paid: delivered completely. Repaid: delivered completely once more. Asked again: every further request
 * of a turn, with the outcome of the previous one.
 */
export function countAnswers({ answersPaid, answersRepaid, requests }) {
  const last = new Map();
  const again = [];
  for (const { conversation, turn, outcome, fault } of requests) {
    const key = `${turn} ${conversation}`;
    if (last.has(key)) again.push({ turn, before: last.get(key) });
    last.set(key, fault ?? outcome);
  }
  return { paid: answersPaid, repaid: answersRepaid, again };
}

function countValues(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function countExcess(counts) {
  return [...counts.values()].reduce((sum, count) => sum + count - 1, 0);
}
