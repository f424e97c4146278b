import { afterAll, beforeAll, expect, test } from "vitest";
import { createGitTools } from "../../../src/apps/git/index.ts";
import type { ScriptedConversation } from "../../../src/testing/model-server/script.ts";
import { runHoldfast } from "../../cli/terminal.ts";
import { formatConnectionOptions } from "../../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../../workflows/support/test-environment.ts";
import { createReviewedRepository, PARTS, type ReviewedRepository } from "./reviewed-repository.ts";

let stage: TestEnvironment;
let repository: ReviewedRepository;
beforeAll(async () => {
  const { core, main, update } = createGitTools();
  stage = await openTestEnvironment({ tools: [...core, ...main, ...update] });
  repository = createReviewedRepository();
});
afterAll(async () => {
  repository.remove();
  await stage.close();
});

const diff = (files: readonly string[]) => ({
  toolCalls: [
    {
      name: "git_diff",
      arguments: { from: repository.base, to: repository.head, detail: "standard", files },
    },
  ],
});

/** A finding about the first part; its evidence holds if the line exists. */
const finding = (id: string, line: number) => ({
  id,
  severity: "high",
  confidence: 90,
  file: "one/file.ts",
  start_line: line,
  end_line: line,
  category: "correctness",
  body: `Wrong at ${line}.`,
  evidence: [`${repository.head.slice(0, 10)}:one/file.ts:${line}`],
});

const review = (...findings: readonly object[]) => ({
  text: JSON.stringify({ summary: "Four parts change.", findings }),
});

/** A review that gives each part to a sub-agent; the last one dies. */
function scriptReview(critique: object, revised: object): ScriptedConversation[] {
  const delegate = PARTS.map((part) => ({ name: "parallel_analyze", arguments: { task: `Examine part ${part}` } }));
  return [
    {
      match: "Judge whether an artifact",
      replies: [{ text: JSON.stringify(critique) }],
    },
    ...PARTS.map((part) => ({
      match: `Examine part ${part}`,
      replies:
        part === "four"
          ? [{ fault: "http" as const, status: 400 }]
          : [diff([part]), { text: `Part ${part} is sound.` }],
    })),
    {
      match: "Review the change that you are given",
      replies: [
        { toolCalls: delegate },
        review(finding("holds", 1), finding("fails", 99)),
        { text: JSON.stringify(revised) },
      ],
    },
  ];
}

function runReview(...flags: readonly string[]) {
  const model = ["--model", "local/test-model", "--base-url", stage.model.openaiBaseUrl];
  const args = ["git", "review", "--repo", repository.folder, "--commit", "HEAD", ...model];
  return runHoldfast([...args, ...formatConnectionOptions(stage), ...flags]);
}

test("a review accounts for every hunk, names the sub-agent that died, drops what evidence refutes, and is revised once [IRIS-20] [IRIS-24]", async () => {
  stage.model.script({
    conversations: scriptReview(
      {
        requires_revision: true,
        issues: [{ title: "Too harsh", body: "It is rare.", severity: "low" }],
        revision_prompt: "Say how rare.",
        confidence: 80,
      },
      { summary: "Four parts change, rarely.", findings: [finding("holds", 2), finding("fails", 99)] },
    ),
  });
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
    evidence: { dropped: [{ finding: { id: "fails" }, problems: [expect.stringContaining("ends at line 2")] }] },
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
