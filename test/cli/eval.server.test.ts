import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { main } from "../../src/apps/cli/program.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { formatConnectionOptions, runCommandLine } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import { createTerminal } from "./terminal.ts";

let stage: TestEnvironment;
let folder: string;
beforeAll(async () => {
  stage = await openTestEnvironment();
  folder = await mkdtemp(join(tmpdir(), "holdfast-eval-"));
  const agent = (system: string) => `
[agent]
system_prompt = "${system}"
[provider]
model = "test-model"
api = "openai_completions"
base_url = "${stage.model.openaiBaseUrl}"
context_window = 100000
max_tokens = 1000
[provider.cost]
input_per_million = 1000
output_per_million = 1000
[tools]
enabled = []
`;
  await writeFile(join(folder, "short.toml"), agent("Answer with a number."));
  await writeFile(join(folder, "long.toml"), agent("Think, then answer."));
  await writeFile(join(folder, "suite.toml"), SUITE);
  stage.model.script({
    conversations: QUESTIONS.map(([question, answer]) => ({
      match: ({ firstUserText }: { firstUserText: string }) => firstUserText === question,
      replies: Array.from({ length: 20 }, () => ({ text: answer })),
    })),
  });
});
afterAll(async () => {
  await stage.close();
  await rm(folder, { recursive: true, force: true });
});

const QUESTIONS = [
  ["What is 1 + 1?", "2"],
  ["What is 2 + 2?", "4"],
  ["What is 3 + 3?", "7"],
] as const;

const SUITE = `
name = "sums"
tags = ["nightly"]
agents = ["short.toml", "long.toml"]
repetitions = 2

[[cases]]
id = "one"
input = "What is 1 + 1?"
expected = "2"

[[cases]]
id = "two"
input = "What is 2 + 2?"
expected = "4"

[[cases]]
id = "three"
input = "What is 3 + 3?"
expected = "6"

[[scorers]]
type = "exact"
`;

type Line = Readonly<Record<string, unknown>>;

async function holdfast(...args: readonly string[]) {
  const result = await runCommandLine(stage, ...args);
  const lines = result.out.startsWith("{")
    ? result.out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Line)
    : [];
  return { ...result, lines };
}

test("a suite is run, inspected, compared, exported and deleted from the command line", async () => {
  const file = join(folder, "suite.toml");

  const first = await holdfast("eval", "run", file, "--json");
  expect(first).toMatchObject({ code: 0, err: "" });
  const run = first.lines.find(({ type }) => type === "started")?.["run"] as string;
  const report = first.lines.at(-1)!;
  expect(report).toMatchObject({
    type: "report",
    status: "ended",
    cells: 12,
    finished: 12,
    failed: 0,
    exitCode: 0,
  });
  expect((report["configurations"] as Line[]).map(({ name }) => name)).toEqual(["short", "long"]);

  const missed = await holdfast("eval", "run", file, "--fail-under", "0.8");
  expect(missed.code).toBe(7);
  expect(missed.out).toContain("0.667 [");
  expect(missed.err).toContain("short: exact is 0.666667, below 0.8");

  const reached = await holdfast(
    "eval",
    "run",
    file,
    "--fail-under",
    "exact=0.6",
    "--fail-if-worse-than",
    run,
  );
  expect(reached.code).toBe(0);
  expect(reached.err).toContain("12 reused");

  const list = await holdfast("eval", "list", "--tag", "nightly", "--json");
  expect(list.lines.map(({ id }) => id)).toContain(run);
  expect(list.lines).toHaveLength(3);

  const status = await holdfast("eval", "status", run.slice("suite-".length, 16), "--json");
  expect(status.lines).toMatchObject([{ type: "status", run, finished: 12, pending: 0 }]);

  const shown = await holdfast("eval", "show", run, "--case", "three");
  expect(shown.out).toContain("asks      What is 3 + 3?");
  expect(shown.out).toContain("answers   7");
  expect(shown.out).toMatch(/holdfast show \S+/);

  const csv = await holdfast("eval", "export", "last", "--csv");
  expect(csv.out.split("\r\n")).toHaveLength(14);
  expect((await holdfast("eval", "export", "last", "--json")).lines).toHaveLength(12);

  const compared = await holdfast("eval", "compare", run, "last");
  expect(compared.code).toBe(0);
  expect(compared.out).toContain("No case has changed.");

  expect((await holdfast("eval", "cache", "--json")).lines).toMatchObject([{ type: "cache" }]);
  expect((await holdfast("eval", "attach", run)).code).toBe(0);
  expect((await holdfast("eval", "delete", run, "--yes")).code).toBe(0);
  expect((await holdfast("eval", "status", run)).err).toContain("holdfast eval list");
});

thoroughTest("a run that Ctrl-C stops says so with its exit code, and can be resumed", async () => {
  const file = join(folder, "held.toml");
  await writeFile(file, buildSuite("held", ["Quickly?", "Slowly?"]));
  stage.model.script({
    conversations: ["Quickly?", "Slowly?"].map((question) => ({
      match: ({ firstUserText }: { firstUserText: string }) => firstUserText === question,
      replies: [{ text: question, ...(question === "Slowly?" ? { holdUntil: "slowly" } : {}) }],
    })),
  });
  const { streams, said, signals } = createTerminal();
  const ending = main(["eval", "run", file, ...formatConnectionOptions(stage)], streams);
  await stage.model.waitForHold("slowly");
  signals.emit("SIGINT");
  expect(await ending).toBe(4);
  expect(said.err).toContain("Stopping the run");
  stage.model.release("slowly");
  const resumed = await holdfast("eval", "resume", "last", "--json");
  expect(resumed).toMatchObject({ code: 0 });
  expect(resumed.lines.at(-1)).toMatchObject({ type: "report", status: "ended", finished: 2 });
});

thoroughTest("a run whose budget is used up says so with its exit code", async () => {
  const questions = Array.from({ length: 30 }, (_, at) => `How much is ${at}?`);
  const file = join(folder, "dear.toml");
  await writeFile(file, buildSuite("dear", questions));
  stage.model.script({
    conversations: [
      {
        match: ({ firstUserText }: { firstUserText: string }) => firstUserText.startsWith("How much"),
        replies: [{ text: "Much.", usage: { input: 1000, output: 1000 } }],
      },
    ],
  });
  const spent = await holdfast("eval", "run", file, "--max-cost", "4", "--concurrency", "1", "--json");
  expect(spent.code).toBe(5);
  expect(spent.lines.at(-1)).toMatchObject({ type: "report", status: "stopped", stopCode: "budget" });
  const more = await holdfast("eval", "set", "last", "--max-cost", "none");
  expect(more).toMatchObject({ code: 0 });
  expect(await holdfast("eval", "resume", "last", "--json")).toMatchObject({ code: 0 });
});

thoroughTest("cases that are not valid are an error of the input, and end the run", async () => {
  const file = join(folder, "broken.toml");
  await writeFile(file, 'name = "broken"\nagents = ["short.toml"]\ncases = "broken.jsonl"\n');
  for (const [cases, message] of [
    ["", "the suite has no cases"],
    [
      '{"input":"One?"}\n{"inputs":"Two?"}\n',
      'broken.jsonl:2:2: error: inputs: unknown key; did you mean "input"?',
    ],
  ] as const) {
    await writeFile(join(folder, "broken.jsonl"), cases);
    const run = await holdfast("eval", "run", file);
    expect(run.code).toBe(2);
    expect(run.err).toContain(message);
    const [newest] = (await holdfast("eval", "list", "--json")).lines;
    expect(newest).toMatchObject({ name: "broken", status: "failed", reason: "its cases are not valid" });
  }
});

function buildSuite(name: string, questions: readonly string[]): string {
  const cases = questions.map((input) => `[[cases]]\ninput = ${JSON.stringify(input)}\n`);
  return `name = "${name}"\nagents = ["short.toml"]\n${cases.join("")}`;
}
