import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { main } from "../../src/apps/cli/program.ts";
import { SentSessionEvent } from "../../src/schema/session-event.ts";
import { createTerminal } from "../cli/terminal.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "./support/gates.ts";
import { formatConnectionOptions } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

const gates = new Gates();
let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [gates.createTool()] });
});
afterAll(() => stage.close());

/** A terminal that is attached to sessions. */
function attached(...args: readonly string[]) {
  const { streams, said, signals } = createTerminal();
  const code = main(["attach", ...args, ...formatConnectionOptions(stage)], streams);
  const shows = (text: string) =>
    eventually(() => said.out.includes(text), { what: `${text} in ${said.out} ${said.err}` });
  return { code, said, signals, shows, type: (line: string) => streams.stdin.write(`${line}\n`) };
}

describe("attached to a session that runs elsewhere", () => {
  test("prints an answer while it arrives, sends typed text as steering, and exits with the run's outcome", async () => {
    const session = stage.session({
      replies: [
        { text: "Let me wait.", toolCalls: [{ name: "hold", arguments: { gate: "attach" } }] },
        { text: "All is well", chunkSize: 4, holdUntil: "attach-answer" },
      ],
      agent: { tools: ["hold"] },
    });
    await session.start("Go");
    await gates.get("attach").arrived;
    const { code, shows, type } = attached(session.id);
    await shows("Let me wait.");
    await shows("● hold");
    type("Use pnpm");
    await eventually(
      async () =>
        (await session.handle.query<{ queued: { steering: number } }>("status")).queued.steering === 1,
    );
    gates.get("attach").open();
    await stage.model.waitForHold("attach-answer");
    await shows("All");
    stage.model.release("attach-answer");
    expect(await code).toBe(0);
    await shows("All is well");
    expect(await session.readConversation()).toContain("user: Use pnpm");
  });

  thoroughTest(
    "Ctrl-C detaches, and the run continues; several runs are printed with their numbers, and one is stopped",
    async () => {
      const ids: string[] = [];
      for (const gate of ["leave-1", "leave-2"]) {
        const replies = [{ text: `Held at ${gate}`, holdUntil: gate, holdAt: "end" as const }];
        const session = stage.session({ replies });
        await session.start("Go");
        await stage.model.waitForHold(gate);
        ids.push(session.id);
      }
      const left = attached(...ids);
      await left.shows("[1] > Go");
      await left.shows("[2] > Go");
      left.signals.emit("SIGINT");
      expect(await left.code).toBe(130);
      expect(left.said.err).toContain("Runs continue");
      const again = attached(...ids);
      await again.shows("[2] > Go");
      again.type("@2 /stop");
      await again.shows("stopped at an attached terminal");
      stage.model.release("leave-1");
      expect(await again.code).toBe(4);
      await again.shows("[1] Held at leave-1");
      stage.model.release("leave-2");
    },
  );

  thoroughTest(
    "a pending call is asked at each of two terminals; one approves, the other denies the next, and both see the end [IRON-09.4]",
    async () => {
      const touch = (file: string) => ({
        toolCalls: [{ name: "bash", arguments: { command: `touch ${file}` } }],
      });
      const there = (file: string) => existsSync(join(stage.home, file));
      const session = stage.session({
        replies: [touch("approved-here"), touch("denied-there"), { text: "I see." }],
        agent: { tools: ["bash"], permissions: { rules: [], otherwise: "ask" } },
      });
      await session.start("Go");
      const terminals = [attached(session.id), attached(session.id)] as const;
      const asked = async (file: string) => {
        const { toolCallId } = await eventually(async () =>
          (await session.readStatus()).approvals.find(({ summary }) => summary === `touch ${file}`),
        );
        for (const { shows } of terminals)
          await shows(`/approve ${toolCallId}, or /deny ${toolCallId} REASON`);
        for (const { said } of terminals) expect(said.out).toContain(`  touch ${file}`);
        expect(there(file)).toBe(false);
        return toolCallId;
      };
      const [one, other] = terminals;
      await asked("approved-here");
      one.type("/approve");
      const denied = await asked("denied-there");
      expect(there("approved-here")).toBe(true);
      other.type(`/deny ${denied} not on a Sunday`);
      for (const { code, shows } of terminals) {
        expect(await code).toBe(0);
        await shows("I see.");
      }
      expect(there("denied-there")).toBe(false);
      expect((await session.readConversation()).join("\n")).toContain(
        "Command was not confirmed by the user. Reason: not on a Sunday",
      );
    },
  );

  thoroughTest(
    "a retried vendor is reported with its last failure and the time of the next attempt",
    async () => {
      const session = stage.session({
        faults: [{ fault: "rate-limited", retryAfterMs: 15_000, message: "slow down please" }],
        agent: { retry: { maxRetries: 4 } },
      });
      await session.start("Go");
      const { code, said, shows, type } = attached(session.id);
      await shows("attempt 2 of 5");
      // First from the caller's live output, then from the server's current state.
      expect(said.out).toMatch(/\(the model call is retried in 15\.0 s: .*slow down please.*\)/);
      expect(said.out).toMatch(
        /\(call-model: attempt 2 of 5, next at \d{4}-\d\d-\d\dT[\d:.]+Z; last failure: .*slow down please.*\)/,
      );
      type("/stop");
      expect(await code).toBe(4);
    },
  );

  thoroughTest("for scripts: events with cursors, from which a later reader resumes", async () => {
    const session = stage.session({ replies: [{ text: "One." }] });
    await session.run("Go");
    const whole = attached(session.id, "--json");
    expect(await whole.code).toBe(0);
    const lines = whole.said.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const events = lines.filter(({ event }) => event !== undefined);
    expect(events.map(({ event }) => event.type)).toEqual(await session.readEventTypes());
    for (const line of events) expect(SentSessionEvent.parse(line)).toMatchObject({ session: session.id });
    expect(lines.at(-1)).toMatchObject({
      session: session.id,
      type: "result",
      outcome: { type: "answered" },
      turns: 1,
      costUsd: 0,
      usage: (await stage.transcript.readLoops(session.id))[0]?.usage,
      durationMs: expect.any(Number),
      exitCode: 0,
    });
    const rest = attached(session.id, "--json", "--from", events[2].cursor);
    await rest.code;
    expect(
      rest.said.out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).event?.type),
    ).toEqual([...(await session.readEventTypes()).slice(3), undefined]);
  });
});
