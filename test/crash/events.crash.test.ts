import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import type { SessionEvent } from "../../src/client/index.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient } from "../workflows/support/test-client.ts";
import type { TestSession } from "../workflows/support/test-session.ts";
import { type CrashEnvironment, openCrashEnvironment } from "./support/crash-environment.ts";

let stage: CrashEnvironment;
beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

const PASSING = ["MessageUpdate", "ToolExecutionUpdate", "ProgressMessage"];

/** Reads on from a position with a client of its own, to a requested event or to the end. */
async function read(
  session: TestSession,
  from: string,
  until: (event: SessionEvent["event"]) => boolean = () => false,
): Promise<SessionEvent[]> {
  const client = await connectClient(stage);
  const seen: SessionEvent[] = [];
  try {
    for await (const one of client.session(session.id).events({ from })) {
      seen.push(one);
      if (until(one.event)) break;
    }
  } finally {
    await client.close();
  }
  return seen;
}

async function expectOnce(session: TestSession, seen: readonly SessionEvent[]): Promise<void> {
  const durable = seen.map(({ event }) => event.type).filter((type) => !PASSING.includes(type));
  expect(durable).toEqual(await session.readEventTypes());
  const recorded = (await session.readEntries()).map(({ message }) => message);
  expect(seen.flatMap(({ event }) => (event.type === "MessageEnd" ? [event.message] : []))).toEqual(recorded);
}

/** Bytes of live output that are stored for all sessions. */
async function liveBytes(): Promise<number> {
  const files = await readdir(join(stage.home, "live"), { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((one) => one.isFile())
    .map(async (one) => (await stat(join(one.parentPath, one.name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

thoroughTest(
  "a client that leaves in the middle of an answer resumes in another client, across the worker's SIGKILL: each event arrives once, and no live output is stored in the end [EVT-16.2, LOOP-23.1, LOOP-23.3]",
  async () => {
    const session = stage.session({
      replies: [
        { text: "one two three four five six", chunkSize: 4, holdUntil: "kill" },
        { text: "Never seen." },
      ],
    });
    const first = await stage.startWorker();
    await session.start("Go");
    await stage.model.waitForHold("kill");
    const before = await read(session, "loop", ({ type }) => type === "MessageUpdate");
    await first.kill("SIGKILL");
    await stage.startWorker();
    // The answer is requested again: it is sent from its beginning, under the start that was already sent.
    const after = read(session, before.at(-1)?.cursor ?? "");
    await eventually(() => session.listRequests().length > 1, { what: "the second request" });
    stage.model.release("kill");
    const whole = [...before, ...(await after)];
    await expectOnce(session, whole);
    const shown = whole.flatMap(({ event }) => (event.type === "MessageUpdate" ? [event] : []));
    const texts = shown.map(({ message: { content } }) =>
      content[0]?.type === "text" ? content[0].text : "",
    );
    for (const text of texts) expect("one two three four five six".startsWith(text)).toBe(true);
    await eventually(async () => (await liveBytes()) === 0, { what: "the removal of what is recorded" });
  },
);

thoroughTest(
  "a reader that left before a continue-as-new and returns after the end receives the rest once",
  async () => {
    await stage.startWorker();
    const session = stage.session({
      replies: [
        ...Array.from({ length: 8 }, () => ({ toolCalls: [{ name: "list_files", arguments: {} }] })),
        { text: "Done." },
      ],
      agent: { tools: ["list_files"] },
    });
    await session.start("Go", { settings: { rotateAfterEvents: 30 } });
    const before = await read(session, "session", ({ type }) => type === "TurnStart");
    await session.readResult();
    const middle = await read(session, before.at(-1)?.cursor ?? "", ({ type }) => type === "TurnEnd");
    const rest = await read(session, middle.at(-1)?.cursor ?? "");
    await expectOnce(session, [...before, ...middle, ...rest]);
  },
);

thoroughTest(
  "an answer that the vendor rejected at first is sent once, and replaces the output of its first attempt",
  async () => {
    await stage.startWorker();
    const session = stage.session({
      replies: [{ text: "right from here", chunkSize: 4 }],
      faults: [{ fault: "cut", afterChunks: 4, reply: { text: "wrong all along", chunkSize: 4 }, times: 1 }],
    });
    await session.start("Go");
    const whole = await read(session, "loop");
    await expectOnce(session, whole);
    expect(whole.filter(({ event }) => event.type === "MessageStart")).toHaveLength(2);
  },
);
