import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { OutboxEvent } from "../../../src/core/machine/state/outbox.ts";
import type { AgentMessage } from "../../../src/schema/message.ts";

// What holds of every conversation and of every loop.

/** Cheaper than `expect`, which is called a million times otherwise. */
export function must(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message);
}

export function same(actual: unknown, wanted: unknown, message: string): void {
  if (!isDeepStrictEqual(actual, wanted)) expect(actual, message).toEqual(wanted);
}

/** Every call has one result behind its answer, in order, and no result is without its call. */
export function expectNoOrphans(messages: readonly AgentMessage[]): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") {
      must(open.includes(message.toolCallId), `the result of ${message.toolCallId} answers an open call`);
      open = open.filter((id) => id !== message.toolCallId);
      continue;
    }
    must(open.length === 0, `every call has its result: ${open}`);
    if (message.role !== "assistant") continue;
    open = message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));
  }
  must(open.length === 0, `every call has its result: ${open}`);
}

/** EVT-12: numbered from 0, AgentStart first, AgentEnd once and last, turns and messages in pairs. */
export function expectWholeLoop(events: readonly OutboxEvent[]): void {
  const types = events.map(({ body }) => body.type);
  must(
    events.every(({ sequence }, index) => sequence === index),
    "events are numbered from 0",
  );
  const [first] = events;
  const end = first?.body.type === "AgentEnd" ? first.body.outcome : undefined;
  if (end?.type === "rejected" && end.by !== undefined) {
    must(events.length === 1, "a loop that a hook refused never began");
    return;
  }
  must(types.lastIndexOf("AgentStart") === 0, `AgentStart is first, and once: ${types}`);
  must(types.indexOf("AgentEnd") === types.length - 1, `AgentEnd is last, and once: ${types}`);
  let turn: number | undefined;
  let turns = 0;
  let message: number | undefined;
  const started = new Set<string>();
  for (const { body } of events) {
    if (message !== undefined)
      same(body, { type: "MessageEnd", position: message }, "a message that starts ends");
    message = undefined;
    switch (body.type) {
      case "TurnStart":
        must(turn === undefined && body.turn === turns, `turn ${body.turn} starts behind ${turns} others`);
        turn = body.turn;
        turns++;
        break;
      case "TurnEnd":
        must(body.turn === turn, `turn ${body.turn} ends in turn ${turn}`);
        turn = undefined;
        break;
      case "MessageStart":
        message = body.position;
        break;
      case "ToolExecutionStart":
        must(turn !== undefined, "tools run in a turn");
        started.add(`${turn}/${body.toolCallId}`);
        break;
      case "ToolExecutionEnd":
        must(turn !== undefined, "tools run in a turn");
        started.delete(`${turn}/${body.toolCallId}`);
        break;
      case "AgentEnd":
        must(turn === undefined, "the last turn has ended");
        break;
    }
  }
  must(started.size === 0, `a tool that starts ends: ${[...started]}`);
}
