import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { SqliteTranscript } from "../../src/store/transcript/sqlite/sqlite-transcript.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server/server.ts";
import { createTestAgent } from "../../src/testing/test-agent.ts";
import { runHoldfast } from "../cli/terminal.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { startMachine, type TestMachine } from "./support/test-machine.ts";

// Backups of a machine with active runs, taken and restored with the commands that an operator types (docs/operations.md).

let model: ModelServer;
beforeAll(async () => {
  model = await startModelServer();
});
afterAll(() => model.stop());

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "holdfast-backup-"));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

async function command(...args: string[]): Promise<Record<string, unknown>> {
  const { code, out, err } = await runHoldfast([...args, "--json"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return JSON.parse(out) as Record<string, unknown>;
}

function agent(workspace: string, session: string) {
  return createTestAgent(model, {
    workspace,
    tools: ["bash"],
    model: { headers: { "x-conversation": session } },
  });
}

/** What each request to the vendor carries: the answers so far, by conversation. */
function asked(session: string): number[] {
  return model.requests.filter((one) => one.conversation === session).map(({ turn }) => turn);
}

/** Each execution leaves a line under its own key; it lasts until the file `go` exists. */
const COMMAND =
  'echo run >> "runs-$(echo "$HOLDFAST_CALL" | tr / _)"; while [ ! -e go ]; do sleep 0.05; done; echo finished';
const STEP = { toolCalls: [{ name: "bash", arguments: { command: COMMAND } }] };

function runs(workspace: string): Record<string, number> {
  return Object.fromEntries(
    readdirSync(workspace)
      .filter((name) => name.startsWith("runs-"))
      .map((name) => [name, readFileSync(join(workspace, name), "utf8").trim().split("\n").length]),
  );
}

thoroughTest(
  "a backup of runs in flight is restored after every process has died: the runs continue, nothing is lost or done twice",
  async () => {
    const [home, copy, workspace] = [await folder(), await folder(), await folder()];
    const machine = await startMachine(home);
    const busy = {
      replies: [{ ...STEP, chunkDelayMs: 20 }, { ...STEP, chunkDelayMs: 20 }, STEP, { text: "All done." }],
    };
    model.script({ replies: busy.replies });
    writeFileSync(join(workspace, "go"), "");
    const sessions = Array.from({ length: 16 }, (_, index) => `flight-${index}`);
    for (const session of sessions) {
      await machine.holdfast.start({ session, agent: agent(workspace, session), prompt: "Go" });
      await sleep(60);
    }
    const manifest = await command("backup", join(copy, "b"), "--home", home);
    expect(manifest).toMatchObject({
      type: "backup",
      transcript: { name: "transcript.db" },
      server: { name: "temporal.sqlite" },
    });
    await machine.powerCut();

    const before = await SqliteTranscript.open({ path: join(copy, "b", "transcript.db"), readOnly: true });
    const known = new Map<string, { answers: number; claimed: string[] }>();
    for (const session of sessions) {
      const steps = await before.readSteps(session);
      known.set(session, {
        answers: steps.filter((step) => step.kind === "call-model" && step.storedAtMs !== undefined).length,
        claimed: steps
          .filter(({ kind }) => kind === "bash")
          .map(({ run, number, call }) => `runs-${run}_${number}_${call}`),
      });
    }
    await before.close();
    const ranBefore = runs(workspace);
    model.reset();

    const other = join(await folder(), "home");
    expect(await command("restore", join(copy, "b"), "--home", other)).toMatchObject({ type: "restored" });
    const restored = await startMachine(other);
    for (const session of sessions) {
      expect(await restored.holdfast.session(session).result()).toMatchObject({ text: "All done." });
      const { answers, claimed } = known.get(session)!;
      for (const turn of asked(session)) expect(turn).toBeGreaterThanOrEqual(answers);
      for (const key of claimed) expect(runs(workspace)[key]).toBe(ranBefore[key]);
      const messages = await restored.holdfast.session(session).messages.list();
      expect(messages.map(({ message }) => message.role).join(" ")).toBe(
        "user assistant toolResult assistant toolResult assistant toolResult assistant",
      );
    }
  },
  120_000,
);

/** A run that waits in its third turn, with a backup of its second and one of its third. */
async function twoBackups(session: string) {
  const [home, copies, workspace] = [await folder(), await folder(), await folder()];
  const machine = await startMachine(home);
  const at = (gate: string) => ({ holdUntil: `${session}-${gate}` });
  model.script({
    replies: [STEP, { ...STEP, ...at("second") }, { ...STEP, ...at("third") }, { text: "All done." }],
  });
  writeFileSync(join(workspace, "go"), "");
  await machine.holdfast.start({ session, agent: agent(workspace, session), prompt: "Go" });
  await model.waitForHold(`${session}-second`);
  await command("backup", join(copies, "early"), "--home", home);
  model.release(`${session}-second`);
  await model.waitForHold(`${session}-third`);
  await command("backup", join(copies, "late"), "--home", home);
  await machine.powerCut();
  model.release(`${session}-third`);
  const ran = runs(workspace);
  model.reset();
  return { copies, workspace, ran };
}

async function puzzled(
  copies: string,
  transcript: "early" | "late",
  server: "early" | "late",
): Promise<TestMachine> {
  const home = join(await folder(), "home");
  await command("restore", join(copies, transcript), "--home", home, "--only", "transcript");
  await command("restore", join(copies, server), "--home", home, "--only", "server");
  return await startMachine(home);
}

thoroughTest(
  "a transcript ahead of Temporal's store: the run continues from what is stored, nothing is requested or done twice",
  async () => {
    const session = "ahead";
    const { copies, workspace, ran } = await twoBackups(session);
    const machine = await puzzled(copies, "late", "early");
    expect(await machine.holdfast.session(session).result()).toMatchObject({ text: "All done." });
    expect(asked(session)).toEqual([2, 3]);
    for (const [key, times] of Object.entries(ran)) expect(runs(workspace)[key]).toBe(times);
    expect(Object.values(runs(workspace))).toEqual([1, 1, 1]);
  },
);

thoroughTest(
  "a transcript behind Temporal's store: the run reports what is missing and ends; the session continues with the rest",
  async () => {
    const session = "behind";
    const { copies, workspace, ran } = await twoBackups(session);
    const machine = await puzzled(copies, "early", "late");
    const result = await machine.holdfast.session(session).tryResult();
    expect(result.outcome).toMatchObject({ type: "failed", fault: "behind" });
    expect(JSON.stringify(result.outcome)).toMatch(/3 entries of 5[^"]*older than Temporal's state/);
    expect(asked(session)).toEqual([]);
    expect(runs(workspace)).toEqual(ran);
    await machine.holdfast
      .session(session)
      .prompt("Go on with what there is", { agent: agent(workspace, session) });
    expect(await machine.holdfast.session(session).tryResult()).toMatchObject({ text: "All done." });
  },
);

thoroughTest("no transcript at all: the run reports it and ends", async () => {
  const session = "gone";
  const { copies } = await twoBackups(session);
  const home = join(await folder(), "home");
  await command("restore", join(copies, "late"), "--home", home, "--only", "server");
  const machine = await startMachine(home);
  const { outcome } = await machine.holdfast.session(session).tryResult();
  expect(outcome).toMatchObject({ type: "failed" });
  expect(JSON.stringify(outcome)).toMatch(/behind/);
});

thoroughTest(
  "no store of the server: sessions and results are readable, and continue with the next prompt",
  async () => {
    const session = "alone";
    const { copies, workspace } = await twoBackups(session);
    const home = join(await folder(), "home");
    await command("restore", join(copies, "late"), "--home", home, "--only", "transcript");
    const machine = await startMachine(home);
    expect(await machine.holdfast.session(session).status()).toMatchObject({
      source: "transcript",
      status: "stopped",
    });
    expect(await machine.holdfast.session(session).messages.list()).toHaveLength(5);
    await machine.holdfast.session(session).prompt("Go on", { agent: agent(workspace, session) });
    expect(await machine.holdfast.session(session).result()).toMatchObject({ text: "All done." });
  },
);

thoroughTest(
  "a transcript that diverged from the restored store: the prompt is rejected with a readable error, the next run accepts it",
  async () => {
    const session = "parted";
    const [home, copies, workspace] = [await folder(), await folder(), await folder()];
    const machine = await startMachine(home);
    model.script({ replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }] });
    const resting = (one: TestMachine, turns: number) =>
      eventually(
        async () => {
          const status = await one.holdfast.session(session).status();
          return status.status === "waiting" && status.turns === turns;
        },
        { what: `${turns} turns`, timeoutMs: 20_000 },
      );
    await machine.holdfast.start({
      session,
      agent: agent(workspace, session),
      prompt: "First",
      mode: "interactive",
    });
    await resting(machine, 1);
    await command("backup", join(copies, "early"), "--home", home);
    await machine.holdfast.session(session).prompt("Second");
    await resting(machine, 2);
    await command("backup", join(copies, "late"), "--home", home);
    await machine.powerCut();

    const restored = await puzzled(copies, "late", "early");
    await restored.holdfast.session(session).prompt("Something else");
    const { outcome } = await restored.holdfast.session(session).tryResult();
    expect(outcome).toMatchObject({ type: "failed", fault: "ahead" });
    await restored.holdfast.session(session).prompt("Something else");
    expect(await restored.holdfast.session(session).tryResult()).toMatchObject({ text: "Three." });
    const words = (await restored.holdfast.session(session).messages.list()).map(({ message }) =>
      message.role === "extension"
        ? ""
        : message.content.map((part) => (part.type === "text" ? part.text : "")).join(""),
    );
    expect(words).toEqual(["First", "One.", "Second", "Two.", "Something else", "Three."]);
  },
);

test("neither a backup nor a restore overwrites anything; a damaged backup is rejected", async () => {
  const [home, copies] = [await folder(), await folder()];
  const at = join(copies, "b");
  const nothing = await runHoldfast(["backup", at, "--home", home]);
  expect(nothing).toMatchObject({ code: 2 });
  expect(nothing.err).toContain("nothing to back up");
  await (await SqliteTranscript.open({ path: join(home, "transcript.db") })).close();
  const manifest = await runHoldfast(["backup", at, "--home", home, "--json"]);
  expect(manifest.err).toContain("contains no dev server");
  expect(readdirSync(at).sort()).toEqual(["manifest.json", "transcript.db"]);
  const again = await runHoldfast(["backup", at, "--home", home]);
  expect(again).toMatchObject({ code: 2 });
  expect(again.err).toContain("is not empty");
  expect(readdirSync(copies)).toEqual(["b"]);
  const over = await runHoldfast(["restore", at, "--home", home]);
  expect(over).toMatchObject({ code: 2 });
  expect(over.err).toContain("nothing is overwritten");
  appendFileSync(join(at, "transcript.db"), "x");
  const other = join(copies, "other");
  const damaged = await runHoldfast(["restore", at, "--home", other]);
  expect(damaged).toMatchObject({ code: 1 });
  expect(damaged.err).toMatch(/damaged: .*transcript\.db/);
  expect(existsSync(join(other, "transcript.db"))).toBe(false);
  mkdirSync(join(copies, "empty"));
  expect((await runHoldfast(["restore", join(copies, "empty"), "--home", other])).err).toContain(
    "is not a backup",
  );
});
