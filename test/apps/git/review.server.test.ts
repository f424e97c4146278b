import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { main as runProgram } from "../../../src/apps/cli/program.ts";
import { createGitTools } from "../../../src/apps/git/index.ts";
import { listModels } from "../../../src/client/index.ts";
import { createTerminal, runHoldfast } from "../../cli/terminal.ts";
import { thoroughTest } from "../../support/test-depth.ts";
import { formatConnectionOptions } from "../../workflows/support/test-client.ts";
import {
  openTestEnvironment,
  TEST_KEY,
  type TestEnvironment,
} from "../../workflows/support/test-environment.ts";
import { createFinding, diff, scriptReview } from "./review-script.ts";
import { createReviewedRepository, PARTS, type ReviewedRepository } from "./reviewed-repository.ts";

const WHO = {
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@b",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@b",
};

let stage: TestEnvironment;
let repository: ReviewedRepository;
beforeAll(async () => {
  const { core, main, update } = createGitTools();
  stage = await openTestEnvironment({ tools: [...core, ...main, ...update], secrets: () => TEST_KEY });
  repository = createReviewedRepository();
});
afterAll(async () => {
  repository.remove();
  await stage.close();
});

const finding = (id: string, line: number) => createFinding(repository, id, line);

const review = (...findings: readonly object[]) => ({
  text: JSON.stringify({ summary: "Four parts change.", findings }),
});

/** The arguments of a git command of the test environment. */
function gitArguments(command: string, ...flags: readonly string[]): readonly string[] {
  const model = ["--model", "local/test-model", "--base-url", stage.model.openaiBaseUrl];
  const place = command === "resume" ? [] : ["--repo", repository.folder, ...model];
  return ["git", command, ...place, ...formatConnectionOptions(stage), ...flags];
}

const runReview = (...flags: readonly string[]) =>
  runHoldfast(gitArguments("review", "--commit", repository.head, ...flags));

test("a review accounts for every hunk, names the sub-agent that died, drops what evidence refutes, and is revised once [IRIS-20] [IRIS-24]", async () => {
  stage.model.script(
    scriptReview({
      ...repository,
      hasLostAgent: true,
      critique: {
        requires_revision: true,
        issues: [{ title: "Too harsh", body: "It is rare.", severity: "low" }],
        revision_prompt: "Say how rare.",
        confidence: 80,
      },
      revised: {
        summary: "Four parts change, rarely.",
        findings: [finding("holds", 2), finding("fails", 99)],
      },
    }),
  );
  const { code, out, err } = await runReview("--json", "--fail-on", "high", "--session", "reviewed");
  const result = JSON.parse(out.trim().split("\n").at(-1) ?? "{}");
  expect(code, err).toBe(1);
  expect(result).toMatchObject({
    type: "result",
    session: "reviewed",
    isRevised: true,
    coverage: {
      sentence: "3 of 4 hunks examined (3 by agents), 1 not examined, 1 generated file skipped",
      open: ["four/file.ts:1"],
    },
    delegations: [
      { task: "Examine part one", status: "ended" },
      { task: "Examine part two", status: "ended" },
      { task: "Examine part three", status: "ended" },
      { task: "Examine part four", status: "lost", reason: expect.stringContaining("failed") },
    ],
    evidence: {
      dropped: [{ finding: { id: "fails" }, problems: [expect.stringContaining("ends at line 2")] }],
    },
    verdict: { type: "judged", session: "reviewed.critic" },
    artifact: {
      type: "Review",
      value: {
        summary: "Four parts change, rarely.",
        findings: [{ id: "holds" }],
        metadata: { base: repository.base, head: repository.head },
        stats: { files_reviewed: 3, hunks_reviewed: 3, is_complete: false },
      },
    },
  });
});

thoroughTest(
  "a sub-agent ends after the turns that its call has set, and the result names it; another has the default [IRIS-24]",
  async () => {
    const { base, head } = repository;
    const delegate = (part: string, turns: object) => ({
      name: "parallel_analyze",
      arguments: { task: `Examine part ${part}`, ...turns },
    });
    const agents = ["one", "two"].map((part) => ({
      match: `Examine part ${part}`,
      replies: [diff(base, head, [part]), { text: `Part ${part} is sound.` }],
    }));
    const calls = [delegate("one", { max_turns: 1 }), delegate("two", {})];
    stage.model.script({
      conversations: [...agents, { match: "Review the change", replies: [{ toolCalls: calls }, review()] }],
    });
    const { code, out, err } = await runReview("--json", "--no-critic", "--session", "limited");
    expect(code, err).toBe(0);
    expect(JSON.parse(out.trim().split("\n").at(-1) ?? "{}")).toMatchObject({
      coverage: { open: ["one/file.ts:1", "three/file.ts:1", "four/file.ts:1"].sort() },
      delegations: [
        { name: "parallel_analyze 1", status: "late", reason: "Max turns reached (1/1)" },
        { name: "parallel_analyze 2", status: "ended" },
      ],
    });
  },
);

thoroughTest("a head that moves stops the publication, and the agent examines the difference", async () => {
  const { base, head } = repository;
  repository.git("branch", "--force", "topic", head);
  stage.model.script({
    conversations: [
      {
        match: "Review the change that you are given",
        replies: [
          diff(base, head, PARTS),
          { ...review(finding("old", 1)), holdUntil: "moved" },
          diff(head, "topic"),
          review(finding("new", 2)),
        ],
      },
    ],
  });
  const args = gitArguments("review", "--range", `${base}..topic`, "--no-critic", "--format", "json");
  const { streams, said } = createTerminal();
  const ended = runProgram([...args], streams);
  await stage.model.waitForHold("moved");
  repository.git("checkout", "--quiet", "topic");
  repository.write("five/file.ts", "export const five = 5;\n");
  const moved = repository.commit("Add a part");
  repository.git("checkout", "--quiet", "main");
  stage.model.release("moved");
  expect(await ended, said.err).toBe(0);
  const made = JSON.parse(said.out);
  expect(made.findings).toMatchObject([{ id: "new" }]);
  expect(made.metadata).toMatchObject({ base, head: moved });
  expect(made.stats).toMatchObject({ hunks_reviewed: 5, is_complete: true });
  expect(said.err).toContain("5 of 5 hunks examined, 1 generated file skipped.");
});

thoroughTest(
  "Ctrl-C stops a review, and resume goes on with it without asking for an answer again",
  async () => {
    const text = "Four parts, all sound.";
    stage.model.script({
      conversations: [
        {
          match: "Review the change that you are given",
          replies: [
            diff(repository.base, repository.head, PARTS),
            { text: JSON.stringify({ summary: text, findings: [] }), holdUntil: "stopped" },
          ],
        },
      ],
    });
    const args = gitArguments("review", "--commit", repository.head, "--no-critic", "--session", "stopped");
    const { streams, said, signals } = createTerminal();
    const ended = runProgram([...args], streams);
    await stage.model.waitForHold("stopped");
    signals.emit("SIGINT");
    expect(await ended).toBe(4);
    expect(said.err).toContain("holdfast git resume stopped");
    stage.model.release("stopped");
    const asked = stage.model.requests.length;
    const resumed = await runHoldfast(gitArguments("resume", "stopped"));
    expect(resumed.code, resumed.err).toBe(0);
    expect(resumed.out).toContain(text);
    expect(resumed.out).toContain("4 of 4 hunks examined, 1 generated file skipped.");
    expect(resumed.out).not.toContain("\x1b[");
    expect(resumed.err).toContain("3 turns · ");
    expect(stage.model.requests.length - asked).toBe(1);
    const coloured = await runHoldfast(gitArguments("resume", "stopped"), { FORCE_COLOR: "1" });
    expect(coloured.out).toContain("\x1b[1mReview of ");
    expect(stage.model.requests.length - asked).toBe(1);
  },
);

thoroughTest(
  "the cost after resume is that of all answers of the run: before the stop and after it, of sub-agents and of the critic",
  async () => {
    const [main, sub] = ["gpt-5", "gpt-5-mini"];
    const paid = (nth: number) => ({ usage: { input: 1_000 * 2 ** nth, output: 100 * 2 ** nth } });
    const delegate = { name: "parallel_analyze", arguments: { task: "Examine part one" } };
    const verdict = { requires_revision: false, issues: [], revision_prompt: "", confidence: 90 };
    stage.model.script({
      conversations: [
        { match: "Judge whether", replies: [{ text: JSON.stringify(verdict), ...paid(4) }] },
        {
          match: "Examine part one",
          replies: [
            { ...diff(repository.base, repository.head, ["one"]), ...paid(1) },
            { text: "Sound.", ...paid(2) },
          ],
        },
        {
          match: "Review the change",
          replies: [
            { toolCalls: [delegate], ...paid(0) },
            { ...review(), ...paid(3), holdUntil: "paid", holdAt: "head" },
          ],
        },
      ],
    });
    const models = ["--model", `openai/${main}`, "--subagent-model", `openai/${sub}`];
    const flags = ["--commit", repository.head, "--session", "paid", ...models];
    const { streams, said, signals } = createTerminal();
    const ended = runProgram([...gitArguments("review", ...flags)], streams);
    await stage.model.waitForHold("paid");
    signals.emit("SIGINT");
    expect(await ended, said.err).toBe(4);
    stage.model.release("paid");
    const resumed = await runHoldfast(gitArguments("resume", "paid"));
    expect(resumed.code, resumed.err).toBe(0);
    const spent = [0, 3, 4].reduce((sum, nth) => sum + computePrice(main, paid(nth)), 0);
    const spentBySub = [1, 2].reduce((sum, nth) => sum + computePrice(sub, paid(nth)), 0);
    expect(resumed.err).toContain(` · $${(spent + spentBySub).toFixed(2)} · session paid`);
    const shown = await runHoldfast(gitArguments("resume", "paid", "--json"));
    const result = JSON.parse(shown.out.trim().split("\n").at(-1) ?? "{}");
    expect(result.costUsd).toBeCloseTo(spent + spentBySub, 9);
  },
);

/** Computes what an answer costs by the catalogue. */
function computePrice(
  id: string,
  { usage }: { readonly usage: { readonly input: number; readonly output: number } },
): number {
  const { cost } = listModels().find((one) => one.provider === "openai" && one.id === id) ?? {};
  if (cost === undefined || cost === null) throw new Error(`The price of ${id} is unknown`);
  return (usage.input * cost.input + usage.output * cost.output) / 1e6;
}

test("a commit is written with the generated message, of exactly what is staged", async () => {
  repository.write("six.ts", "export const six = 6;\n");
  repository.git("add", "six.ts");
  stage.model.script({
    replies: [
      { toolCalls: [{ name: "git_diff", arguments: { detail: "standard" } }] },
      { text: JSON.stringify({ title: "Add six", message: "It was missing." }) },
    ],
  });
  const { code, out, err } = await runHoldfast(gitArguments("commit", "--write"), WHO);
  expect(code, err).toBe(0);
  expect(out).toMatch(/^\[main [0-9a-f]{10}\] Add six\n$/);
  expect(repository.git("log", "-1", "--format=%an|%B")).toBe("A|Add six\n\nIt was missing.");
  expect(repository.git("show", "--name-only", "--format=")).toBe("six.ts");
  repository.write("seven.ts", "export const seven = 7;\n");
  repository.git("add", "seven.ts");
  stage.model.script({ defaultReply: { text: "I cannot." } });
  const refused = await runHoldfast(gitArguments("commit", "--write"), WHO);
  expect([refused.code, refused.out]).toEqual([1, "I cannot.\n"]);
  expect(refused.err).toContain("not answered in the required form");
  repository.git("reset", "--quiet");
  const again = await runHoldfast(gitArguments("commit"));
  expect([again.code, again.err]).toEqual([2, expect.stringContaining("Nothing is staged.")]);
});

thoroughTest(
  "an amended commit counts the hunks of HEAD and those that are staged, and the commit is made once",
  async () => {
    const { folder, git, write, base, head } = createReviewedRepository();
    write("one/file.ts", "export const one = 3;\nexport function use() {}\n");
    git("add", "one/file.ts");
    stage.model.script({
      replies: [
        diff(base, head),
        { toolCalls: [{ name: "git_diff", arguments: { from: "staged", detail: "standard" } }] },
        { text: JSON.stringify({ title: "Change all parts, and one again", message: "" }) },
      ],
    });
    const flags = ["--amend", "--write", "--json", "--repo", folder, "--session", "amended"];
    const { code, out, err } = await runHoldfast(gitArguments("commit", ...flags), WHO);
    expect(code, err).toBe(0);
    const results = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(results.find(({ type }) => type === "result")?.coverage).toMatchObject({
      sentence: "6 of 6 hunks examined",
      files: 5,
    });
    const [prompt] = stage.model.requests.slice(-3);
    expect(JSON.stringify(prompt?.body)).toContain("what is staged belongs to the change as well");
    expect(git("rev-list", "--count", "HEAD")).toBe("2");
    // The commit is made: a process that resumes has nothing to ask.
    const asked = stage.model.requests.length;
    const resumed = await runHoldfast(gitArguments("resume", "amended", "--json"), WHO);
    expect(resumed.code, resumed.err).toBe(0);
    expect(JSON.parse(resumed.out.trim().split("\n").at(-1) ?? "{}")).toMatchObject({
      type: "result",
      turns: 3,
      coverage: { sentence: "6 of 6 hunks examined", files: 5 },
    });
    expect(resumed.out).toContain('"wasThere":true');
    expect(stage.model.requests.length).toBe(asked);
    rmSync(folder, { recursive: true });
  },
);
