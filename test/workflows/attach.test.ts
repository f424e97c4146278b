import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { main } from "../../src/cli/program.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { terminal } from "../cli/terminal.ts";
import { placeOf } from "./support/connected.ts";
import { Gates } from "./support/gates.ts";
import { openStage, type Stage } from "./support/temporal.ts";

const gates = new Gates();
let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ tools: [gates.tool()] });
});
afterAll(() => stage.close());

/** A terminal that is attached to sessions. */
function attached(...args: readonly string[]) {
  const { streams, said, signals } = terminal();
  const code = main(["attach", ...args, ...placeOf(stage)], streams);
  const shows = (text: string) =>
    eventually(() => said.out.includes(text), { what: `${text} in ${said.out} ${said.err}` });
  return { code, said, signals, shows, type: (line: string) => streams.stdin.write(`${line}\n`) };
}

describe("attached to a session that runs elsewhere", () => {
  test("an answer is seen while it is made, what is typed steers, and the run's end is the exit code", async () => {
    const session = stage.session({
      replies: [
        { text: "Let me wait.", toolCalls: [{ name: "hold", arguments: { gate: "attach" } }] },
        { text: "All is well", chunkSize: 4, holdUntil: "attach-answer" },
      ],
      agent: { tools: ["hold"] },
    });
    await session.start("Go");
    await gates.of("attach").arrived;
    const { code, shows, type } = attached(session.id);
    await shows("Let me wait.");
    await shows("● hold");
    type("Use pnpm");
    await eventually(
      async () =>
        (await session.handle.query<{ queued: { steering: number } }>("status")).queued.steering === 1,
    );
    gates.of("attach").open();
    await stage.model.waitForHold("attach-answer");
    await shows("All");
    stage.model.release("attach-answer");
    expect(await code).toBe(0);
    await shows("All is well");
    expect(await session.conversation()).toContain("user: Use pnpm");
  });

  test("Ctrl-C leaves it, and the run goes on; several are shown with their numbers, and one is stopped", async () => {
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
    expect(left.said.err).toContain("What runs goes on");
    const again = attached(...ids);
    await again.shows("[2] > Go");
    again.type("@2 /stop");
    await again.shows("stopped at an attached terminal");
    stage.model.release("leave-1");
    expect(await again.code).toBe(4);
    await again.shows("[1] Held at leave-1");
    stage.model.release("leave-2");
  });

  test("for scripts: events with cursors, from which a later reader goes on", async () => {
    const session = stage.session({ replies: [{ text: "One." }] });
    await session.run("Go");
    const whole = attached(session.id, "--json");
    expect(await whole.code).toBe(0);
    const lines = whole.said.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const events = lines.filter(({ event }) => event !== undefined);
    expect(events.map(({ event }) => event.type)).toEqual(await session.eventTypes());
    expect(lines.at(-1)).toMatchObject({ session: session.id, type: "result", exitCode: 0 });
    const rest = attached(session.id, "--json", "--from", events[2].cursor);
    await rest.code;
    expect(
      rest.said.out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).event?.type),
    ).toEqual([...(await session.eventTypes()).slice(3), undefined]);
  });
});
