import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
// @ts-expect-error: the crash campaign is plain JavaScript, as its programs are
import { checkRun as judgeCampaign } from "../crash/campaign/check-run.mjs";
// @ts-expect-error: as above
import * as plainChaos from "./chaos.mjs";
// @ts-expect-error: as above
import { ROOT_PREFIX, removeEverything } from "./cleanup.mjs";
// @ts-expect-error: as above
import * as plainFindings from "./findings.mjs";
// @ts-expect-error: as above
import { judgeDevAgents } from "./parts/dev-agents.mjs";
// @ts-expect-error: as above
import { findSecrets } from "./parts/encoded-secrets.mjs";
// @ts-expect-error: as above
import { judgeWriters } from "./parts/store-writers.mjs";
// @ts-expect-error: as above
import { judgeWave } from "./parts/wave.mjs";

// The judges of `npm run chaos` over evidence with a planted violation for each number, and the stage that cleans up
// after a scenario. No server.

type Finding = { count: string; what: string; where?: string };
type Report = { name: string; findings: Finding[]; notPlayed?: string };
type Scenario = {
  name: string;
  plays: string;
  promise: string;
  isQuick?: boolean;
  play: (stage: { folder: string; onEnd(ending: () => unknown): void }) => Promise<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: each scenario has evidence of its own shape
  judge: (evidence: any) => Finding[];
  limitMs?: number;
};

const { listScenarios, playAll } = plainChaos as {
  listScenarios(): Promise<Scenario[]>;
  playAll(scenarios: Scenario[], options: object): Promise<Report[]>;
};
const { COUNTS, createFinding, sumReports } = plainFindings as {
  COUNTS: string[];
  createFinding(count: string, what: string, where?: string): Finding;
  sumReports(reports: Report[], options?: { isCi?: boolean }): Record<string, number>;
};

const countsOf = (findings: Finding[]) => [...new Set(findings.map(({ count }) => count))].sort();

let scenarios: Map<string, Scenario>;
beforeAll(async () => {
  scenarios = new Map((await listScenarios()).map((scenario) => [scenario.name, scenario]));
});
// biome-ignore lint/suspicious/noExplicitAny: as above
const judged = (name: string, evidence: any) => countsOf(scenarios.get(name)!.judge(evidence));

describe("the scenarios", () => {
  test("there are at least twenty, each in a file of its own name, with what it plays and promises", () => {
    const files = readdirSync(new URL("scenarios/", import.meta.url)).map((file) => basename(file, ".mjs"));
    expect([...scenarios.keys()].sort()).toEqual(files.sort());
    expect(files.length).toBeGreaterThanOrEqual(20);
    for (const { plays, promise, play, judge } of scenarios.values()) {
      expect([plays, promise].every((text) => text.endsWith("."))).toBe(true);
      expect([typeof play, typeof judge]).toEqual(["function", "function"]);
    }
  });
});

describe("the judge of waves finds violations planted in the evidence of a real run", () => {
  type Entry = { role: string; messageId?: string; said?: string; isError?: boolean; position: number };
  type Run = { session: string; branches: { length: number; entries: Entry[] }[]; results: object[] };
  const read = (name: string): Run =>
    JSON.parse(readFileSync(new URL(`../crash/campaign/evidence/${name}.json`, import.meta.url), "utf8"));
  const wave = (run: Run) => ({
    violations: (judgeCampaign as (run: Run) => { violations: object[] })(run).violations,
    runs: [run],
  });
  const counts = (run: Run, options?: object) =>
    countsOf((judgeWave as (evidence: object, options?: object) => Finding[])(wave(run), options));

  test("it finds nothing in a complete run, although workers were killed", () => {
    expect(counts(read("whole-parallel"), { workersDied: true })).toEqual([]);
  });

  test("lost: a call does not run because of the store", () => {
    const run = read("whole-batched-with-steering");
    const result = run.branches[0]!.entries.find(({ role }) => role === "toolResult")!;
    Object.assign(result, { isError: true, said: "Transcript /x: the file no longer exists." });
    expect(counts(run)).toEqual(["lost"]);
  });

  test("lost: a model is informed of a dead worker where none died", () => {
    const run = read("whole-batched-with-steering");
    const result = run.branches[0]!.entries.find(({ role }) => role === "toolResult")!;
    Object.assign(result, { isError: true, said: "The outcome of this call is unknown: its worker died" });
    expect(counts(run)).toEqual(["lost"]);
  });

  test("doubled: an answer is requested again although it was stored", () => {
    expect(counts(read("answer-forgotten"), { workersDied: true })).toEqual(["doubled"]);
  });

  test("unsafeTwice: an unsafe call runs twice", () => {
    expect(counts(read("unsafe-run-again"), { workersDied: true })).toEqual(["unsafeTwice"]);
  });

  test("stuck: a run does not end", () => {
    const run = read("whole-parallel");
    run.results = [{ status: "running" }];
    expect(counts(run, { workersDied: true })).toEqual(["stuck"]);
  });

  test("leaked: a call leaves a process running", () => {
    expect(counts(read("nothing-ended"), { workersDied: true })).toEqual(["leaked"]);
  });
});

test("the judge of writers finds a lost claim or answer, a duplicated one, and a claim mistaken for a dead worker's", () => {
  const whole = {
    session: "s",
    claims: [{ at: 1, attempts: 1, wasLost: false }],
    answers: [1],
    entries: [{ position: 1, at: 1 }],
    steps: [{ number: 1, executions: 1, isStored: true }],
  };
  const counts = (changed: object) => countsOf(judgeWriters({ sessions: [{ ...whole, ...changed }] }));
  expect(counts({})).toEqual([]);
  expect(counts({ steps: [] })).toEqual(["lost"]);
  expect(counts({ entries: [] })).toEqual(["lost"]);
  expect(counts({ refused: "The transcript is behind" })).toEqual(["lost"]);
  expect(counts({ claims: [{ at: 1, attempts: 1, wasLost: true }] })).toEqual(["lost"]);
  expect(counts({ entries: [...whole.entries, ...whole.entries] })).toEqual(["doubled"]);
  expect(counts({ claims: [], answers: [], entries: [], steps: [] })).toEqual(["stuck"]);
});

test("the judge of agents on holdfast dev finds a dead dev server, an open run, a command that ran twice or never", () => {
  const run = {
    session: "s",
    turns: 2,
    commands: ["0", "1"],
    errors: [],
    end: { status: "ended", outcome: { type: "answered" }, gaveUp: 0 },
  };
  const counts = (changed: object, dev: object = {}) =>
    countsOf(judgeDevAgents({ devHasEnded: false, said: "", runs: [{ ...run, ...changed }], ...dev }));
  expect(counts({})).toEqual([]);
  expect(counts({}, { devHasEnded: true })).toEqual(["stuck"]);
  expect(counts({ end: { status: "open", gaveUp: 0 } })).toEqual(["stuck"]);
  expect(counts({ end: { ...run.end, gaveUp: 2 } })).toEqual(["broken"]);
  expect(counts({ commands: ["0", "1", "1"] })).toEqual(["unsafeTwice"]);
  expect(counts({ commands: ["0"] })).toEqual(["lost"]);
  expect(counts({ errors: [{ text: "StoreError" }] })).toEqual(["lost"]);
});

test("the judges of permissions find a call that ran without consent", () => {
  const pair = { name: "awk", first: "awk a", second: "awk b", begun: true };
  expect(judged("always-widened", { tried: [{ ...pair, wasAsked: true }] })).toEqual([]);
  expect(judged("always-widened", { tried: [{ ...pair, wasAsked: false }] })).toEqual(["unsafeTwice"]);
  expect(judged("always-widened", { tried: [pair] })).toEqual(["stuck"]);
  const commands = [{ command: "git status", isDenied: false }];
  expect(judged("deny-options", { commands, ran: ["git status"] })).toEqual([]);
  expect(judged("deny-options", { commands, ran: ["git status", "git -C . push"] })).toEqual(["unsafeTwice"]);
  expect(judged("deny-options", { commands, ran: [] })).toEqual(["lost"]);
  const imported = { name: "touch", asked: 1, failedTasks: [], end: { status: "ended" } };
  expect(judged("forged-export", { tried: [imported, { name: "x", refused: "no" }] })).toEqual([]);
  expect(judged("forged-export", { tried: [{ ...imported, asked: 0 }] })).toEqual(["unsafeTwice"]);
  expect(judged("forged-export", { tried: [{ ...imported, end: { status: "open" } }] })).toEqual(["stuck"]);
  expect(judged("forged-export", { tried: [{ ...imported, failedTasks: ["TypeError"] }] })).toEqual([
    "broken",
  ]);
});

test("a secret is found in every form", () => {
  const secret = "pg-4Kq8vZ2mXw7Ld1Rt9Hs3";
  const forms = [
    secret,
    Buffer.from(`x${secret}`).toString("base64"),
    Buffer.from(secret).toString("hex"),
    [...secret].reverse().join(""),
  ];
  const places = forms.map((text) => ({ place: text, bytes: Buffer.from(`before ${text} after`) }));
  const found = findSecrets([...places, { place: "none", bytes: Buffer.from("nothing") }], { S: secret });
  expect(new Set(found.map(({ place }: { place: string }) => place))).toEqual(new Set(forms));
  const evidence = { looked: 1, requests: 99, found };
  expect(judged("secrets", evidence)).toEqual(["leaked"]);
  expect(judged("secrets", { ...evidence, found: [] })).toEqual([]);
});

test("the judges of vendors, files, entry points and memory find what hangs, fails or is printed", () => {
  const answered = { status: "ended", outcome: { type: "answered" } };
  const open = { status: "open" };
  const stream = { runs: [{ name: "slow-words", end: answered, asked: 1 }], open: [] };
  expect(judged("vendor-streams", stream)).toEqual([]);
  expect(judged("vendor-streams", { runs: [{ ...stream.runs[0], end: open }], open: ["x"] })).toEqual([
    "leaked",
    "stuck",
  ]);
  expect(judged("vendor-streams", { ...stream, runs: [{ ...stream.runs[0], asked: 2 }] })).toEqual([
    "doubled",
  ]);
  const ends = { limited: { status: "ended" }, falling: answered, neighbour: answered };
  const waits = { ends, status: "rate limited, next look at noon", openEnd: open };
  expect(judged("retry-after-absurd", waits)).toEqual([]);
  expect(judged("retry-after-absurd", { ...waits, status: "running" })).toEqual(["stuck"]);
  expect(judged("retry-after-absurd", { ...waits, ends: { ...ends, limited: open } })).toEqual(["stuck"]);
  const file = { name: "deep.json", command: "check", code: 2, signal: null, said: "too deep", ms: 1 };
  expect(judged("hostile-definitions", { tried: [file] })).toEqual([]);
  expect(judged("hostile-definitions", { tried: [{ ...file, signal: "SIGKILL" }] })).toEqual(["stuck"]);
  expect(judged("hostile-definitions", { tried: [{ ...file, code: 0 }] })).toEqual(["broken"]);
  const heads = { held: 9, left: 0, status: 200, answeredMs: 9 };
  expect(judged("slow-heads", heads)).toEqual([]);
  expect(judged("slow-heads", { ...heads, left: 9 })).toEqual(["leaked"]);
  const printed = (text: string) => ({ printed: [{ command: "show x", text }] });
  expect(judged("terminal-escapes", printed("plain\n\ttext"))).toEqual([]);
  expect(judged("terminal-escapes", printed("\u001b[2J"))).toEqual(["leaked"]);
  const memory = { death: { code: 1 }, runs: [{ session: "s", end: answered, errors: [] }] };
  expect(judged("out-of-memory", memory)).toEqual([]);
  expect(judged("out-of-memory", { ...memory, runs: [{ ...memory.runs[0], end: open }] })).toEqual(["stuck"]);
  const doctor = { code: 1, stdout: "fail transcript is damaged", stderr: "" };
  const damage = { commands: { doctor }, refused: "", end: { status: "failed" }, status: doctor };
  expect(judged("flipped-bytes", damage)).toEqual([]);
  expect(judged("flipped-bytes", { ...damage, commands: { doctor: { ...doctor, code: 0 } } })).toEqual([
    "lost",
  ]);
});

test("the last line adds up all findings; a scenario that was not played fails in CI alone", () => {
  const reports = [
    { name: "good", findings: [] },
    { name: "bad", findings: [...COUNTS, "broken"].map((count) => createFinding(count, "planted")) },
    { name: "elsewhere", findings: [], notPlayed: "no PostgreSQL" },
  ];
  const numbers = { scenarios: 2, lost: 1, doubled: 1, unsafeTwice: 1, stuck: 1, leaked: 1 };
  expect(sumReports(reports)).toEqual({ ...numbers, failed: 1 });
  expect(sumReports(reports, { isCi: true })).toEqual({ ...numbers, failed: 2 });
  expect(() => createFinding("mislaid", "a new word")).toThrow(/not a count/);
});

describe("the stage", () => {
  const scenario = (name: string, play: Scenario["play"], more: Partial<Scenario> = {}): Scenario => ({
    name,
    plays: "A planted fault.",
    promise: "It is found.",
    play,
    judge: () => [],
    ...more,
  });
  async function played(...planted: Scenario[]): Promise<Report[]> {
    const root = mkdtempSync(join(tmpdir(), ROOT_PREFIX));
    const { TMPDIR } = process.env;
    onTestFinished(() => {
      if (TMPDIR === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = TMPDIR;
      rmSync(root, { recursive: true, force: true });
    });
    return await playAll(planted, { root, mark: `${process.pid}-test/`, graceMs: 100 });
  }

  test("a process that a scenario leaves counts as a leak, and is killed", async () => {
    let pid: number | undefined;
    const [report] = await played(
      scenario("leaves", async (stage) => {
        const child = spawn("sleep", ["300"], { cwd: stage.folder, detached: true, stdio: "ignore" });
        child.unref();
        pid = child.pid;
      }),
    );
    expect(countsOf(report!.findings)).toEqual(["leaked"]);
    expect(existsSync(`/proc/${pid}/exe`)).toBe(false);
  });

  test("a scenario that never ends is stuck, one that throws is broken, and the next one still plays", async () => {
    const reports = await played(
      scenario("hangs", () => new Promise(() => {}), { limitMs: 50 }),
      scenario("throws", async () => {
        throw new Error("planted");
      }),
      scenario("works", async () => undefined),
    );
    expect(reports.map(({ findings }) => countsOf(findings))).toEqual([["stuck"], ["broken"], []]);
  });

  test("cleaning up touches nothing but the stage's own folder", () => {
    expect(() => removeEverything({ mark: "none/", root: tmpdir() })).toThrow(/not a folder of ours/);
  });
});
