import { expect } from "vitest";
import type { TestEnvironment } from "./test-environment.ts";
import type { TestSession } from "./test-session.ts";

/** Nothing is lost and nothing is duplicated, whatever happened during the run. */
export async function expectComplete(stage: TestEnvironment, session: TestSession): Promise<void> {
  const entries = await session.readEntries();
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
  for (const { loopId, status } of await stage.transcript.readLoops(session.id)) {
    const events = await stage.transcript.readEvents(loopId, 0);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
    expect(events.filter(({ body }) => body.type === "AgentEnd")).toHaveLength(1);
    expect(events.at(-1)?.body.type).toBe("AgentEnd");
    expect(status).toBe("completed");
  }
  expect(await stage.transcript.readBranches(session.id)).toHaveLength(1);
}
