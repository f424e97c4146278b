import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { type CrashEnvironment, expectComplete, openCrashEnvironment } from "./support/crash-environment.ts";
import { listToolProcesses } from "./support/tool-processes.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

function bash(label: string) {
  const command = `echo run >> ${label}.runs; echo printed by ${label}; while [ ! -e ${label}.go ]; do sleep 0.05; done; echo finished`;
  return { toolCalls: [{ name: "bash", arguments: { command } }] };
}

test("SIGTERM: a command that ends in time keeps its result, and the next worker continues the run", async () => {
  const session = stage.session({ replies: [bash("short"), { text: "Done." }], agent: { tools: ["bash"] } });
  const first = await stage.startWorker();
  await session.start("Go");
  await stage.waitForStart("short");
  // The next worker is ready first: a draining worker waits only a few seconds for its calls.
  await stage.startWorker();
  const ended = first.kill("SIGTERM");
  stage.release("short");
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(await session.readResult()).toMatchObject({ text: "Done." });
  expect((await session.readConversation())[2]).toContain("finished");
  expect(stage.countRuns("short")).toBe(1);
  await expectComplete(stage, session);
});

thoroughTest(
  "SIGTERM: a command that does not end in time is released with an unknown outcome, and never run again",
  async () => {
    const session = stage.session({
      replies: [bash("long"), { text: "I look." }],
      agent: { tools: ["bash"] },
    });
    const first = await stage.startWorker();
    await session.start("Go");
    await stage.waitForStart("long");
    await stage.printed("printed by long");
    const { runId } = await session.handle.describe();
    const ended = first.kill("SIGTERM");
    await stage.startWorker();
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(await session.readResult()).toMatchObject({ text: "I look." });
    expect((await session.readConversation())[2]).toMatch(
      /outcome of this call is unknown[\s\S]*printed by long/,
    );
    expect(listToolProcesses(`${runId}/`)).toEqual([]);
    expect(stage.countRuns("long")).toBe(1);
    await expectComplete(stage, session);
  },
);

/** The sentences in a worker's log, one per line. */
function said(worker: { stderr(): string }): string[] {
  return worker
    .stderr()
    .split("\n")
    .flatMap((line) => (line.startsWith("{") ? [(JSON.parse(line) as { msg: string }).msg] : []));
}

thoroughTest(
  "SIGTERM: a worker reports what it waits for, and for how long; the time is an option",
  async () => {
    const session = stage.session({
      replies: [bash("told"), { text: "I look." }],
      agent: { tools: ["bash"] },
    });
    const first = await stage.startWorker({ env: { HOLDFAST_DRAIN_SECONDS: "1.5" } });
    await session.start("Go");
    await stage.waitForStart("told");
    const begun = performance.now();
    const ended = first.kill("SIGTERM").then((end) => ({ ...end, tookMs: performance.now() - begun }));
    await stage.startWorker();
    const { tookMs, ...end } = await ended;
    expect(end).toEqual({ code: 0, signal: null });
    // The start of the other worker does not count: it takes longer beside others.
    expect(tookMs).toBeLessThan(8000);
    const words = said(first);
    expect(words[0]).toMatch(new RegExp(`^Asked to end: no new work; 2 s remain for bash of ${session.id}`));
    expect(words.at(-1)).toBe("Ended: 0 steps finished, 1 released");
    expect(await session.readResult()).toMatchObject({ text: "I look." });
  },
);

thoroughTest(
  "a second SIGTERM releases running calls at once; none of their processes is left over",
  async () => {
    const session = stage.session({
      replies: [bash("hurry"), { text: "I look." }],
      agent: { tools: ["bash"] },
    });
    const first = await stage.startWorker({ env: { HOLDFAST_DRAIN_SECONDS: "600" } });
    await session.start("Go");
    await stage.waitForStart("hurry");
    await stage.printed("printed by hurry");
    const { runId } = await session.handle.describe();
    await stage.startWorker();
    first.signal("SIGTERM");
    await eventually(() => said(first).length > 0, { what: "the first word of the drain" });
    const begun = performance.now();
    expect(await first.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    expect(performance.now() - begun).toBeLessThan(5000);
    expect(await session.readResult()).toMatchObject({ text: "I look." });
    expect((await session.readConversation())[2]).toMatch(
      /outcome of this call is unknown[\s\S]*printed by hurry/,
    );
    await eventually(() => listToolProcesses(`${runId}/`).length === 0, { what: "the end of the command" });
    expect(stage.countRuns("hurry")).toBe(1);
    await expectComplete(stage, session);
  },
);

thoroughTest(
  "an answer in flight during five deploys is requested again each time, and arrives [RIG-04.2]",
  async () => {
    const session = stage.session({ replies: [{ text: "At last.", holdUntil: "deployed" }] });
    const env = { HOLDFAST_DRAIN_SECONDS: "0" };
    let worker = await stage.startWorker({ env });
    await session.start("Go");
    const asked = () => stage.model.requests.filter((one) => one.conversation === session.id).length;
    for (let deploy = 1; deploy <= 5; deploy += 1) {
      await eventually(() => asked() === deploy, { what: `question ${deploy}` });
      const next = await stage.startWorker({ env });
      expect(await worker.kill("SIGTERM")).toEqual({ code: 0, signal: null });
      worker = next;
    }
    await eventually(() => asked() === 6, { what: "question 6" });
    stage.model.release("deployed");
    expect(await session.readResult()).toMatchObject({ text: "At last." });
    await expectComplete(stage, session);
  },
);
