import { expect } from "vitest";
import type { Session } from "./session.ts";
import type { Stage } from "./temporal.ts";

/** Nothing is lost and nothing is there twice, whatever happened on the way. */
export async function expectWhole(stage: Stage, session: Session): Promise<void> {
  const entries = await session.entries();
  expect(entries.map(({ position }) => position)).toEqual(entries.map((_, index) => index));
  const calls = entries.flatMap(({ message }) =>
    message.role === "assistant"
      ? message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []))
      : [],
  );
  const results = entries.flatMap(({ message }) =>
    message.role === "toolResult" ? [message.toolCallId] : [],
  );
  expect(results).toEqual(calls);
  for (const { loopId, status } of await stage.transcript.loops(session.id)) {
    const events = await stage.transcript.events(loopId, 0);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
    expect(events.filter(({ body }) => body.type === "AgentEnd")).toHaveLength(1);
    expect(events.at(-1)?.body.type).toBe("AgentEnd");
    expect(status).toBe("completed");
  }
  expect(await stage.transcript.branches(session.id)).toHaveLength(1);
}
