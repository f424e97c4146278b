import { describe, expect, test } from "vitest";
import { readArtifact } from "../../../src/apps/git/artifacts/read-artifact.ts";
import { type ChangeSet, toChangeSet } from "../../../src/apps/git/changes/change-set.ts";
import { summarizeCoverage } from "../../../src/apps/git/changes/coverage-ledger.ts";
import { removeReferences } from "../../../src/apps/git/evidence/remove-references.ts";
import { type AgentFacts, buildLedger } from "../../../src/apps/git/runs/build-ledger.ts";
import { readCoverageFacts } from "../../../src/apps/git/runs/coverage-facts.ts";
import type { Entry } from "../../../src/client/index.ts";
import { makeChangedFile } from "./changed-file.ts";

const commits = (from: string, to: string) => ({ type: "commits" as const, from, to });

function changeSet(files: Readonly<Record<string, number>>): ChangeSet {
  return toChangeSet(Object.entries(files).map(([path, hunks]) => makeChangedFile(path, { hunks })));
}

const shown = (from: string, to: string, ...hunks: string[]): AgentFacts => ({
  facts: { shown: [{ source: commits(from, to), hunks }], skipped: [], delegations: [] },
});

describe("the ledger of a change", () => {
  const changes = changeSet({ "a.ts": 2, "b.ts": 1 });
  const open = (agents: readonly AgentFacts[]) =>
    summarizeCoverage(buildLedger({ source: commits("A", "B"), changes, parts: [] }, agents)).open;

  test("counts what was shown of this change only, and takes back what a lost agent has seen", () => {
    expect(open([shown("A", "B", "a.ts:1"), shown("A", "X", "a.ts:2")])).toEqual(["a.ts:2", "b.ts:1"]);
    const lost = { ...shown("A", "B", "b.ts:1"), name: "parallel_analyze 1", isLost: true };
    expect(open([shown("A", "B", "a.ts:1", "a.ts:2"), lost])).toEqual(["b.ts:1"]);
    expect(open([lost, { ...lost, name: "parallel_analyze 2", isLost: false }])).toEqual([
      "a.ts:1",
      "a.ts:2",
    ]);
  });

  test("of a head that has moved, a file is examined if every part that touches it is", () => {
    const parts = [
      { source: commits("A", "M"), changes: changeSet({ "a.ts": 1, "b.ts": 1 }) },
      { source: commits("M", "B"), changes: changeSet({ "a.ts": 1 }) },
    ];
    const left = (...agents: AgentFacts[]) =>
      summarizeCoverage(buildLedger({ source: commits("A", "B"), changes, parts }, agents)).open;
    expect(left(shown("A", "M", "a.ts:1", "b.ts:1"))).toEqual(["a.ts:1", "a.ts:2"]);
    const views = [shown("A", "M", "a.ts:1", "b.ts:1"), shown("M", "B", "a.ts:1")];
    const both = { skipped: [], delegations: [], shown: views.flatMap(({ facts }) => facts.shown) };
    expect(left({ facts: both })).toEqual([]);
  });

  test("skips what the agent skips with a reason, as a file or as a folder", () => {
    const facts = { shown: [], skipped: [{ path: "a.ts", reason: "moved only" }], delegations: [] };
    const summary = summarizeCoverage(
      buildLedger({ source: commits("A", "B"), changes, parts: [] }, [{ facts }]),
    );
    expect([summary.open, summary.skipped]).toEqual([["b.ts:1"], { "moved only": ["a.ts"] }]);
  });
});

describe("the record of an agent", () => {
  let position = 0;
  const entry = (message: Partial<Entry["message"]>): Entry =>
    ({ position: position++, origin: "tool", tokens: 0, message: { timestamp: 0, ...message } }) as Entry;
  const result = (toolName: string, text: string, more: object = {}) =>
    entry({
      role: "toolResult",
      toolName,
      toolCallId: "c",
      isError: false,
      content: [{ type: "text", text }],
      ...more,
    });
  const call = entry({
    role: "assistant",
    content: [{ type: "toolCall", id: "c", name: "parallel_analyze", arguments: { task: "Look\nat it" } }],
  } as never);

  test("names sub-agents that are late or lost, with the reason", () => {
    const { delegations } = readCoverageFacts([
      call,
      result("parallel_analyze", "Fine.", { childLoopId: "s.sub-1a2b.sub.1" }),
      result("parallel_analyze", "So far.\n[Sub-agent stopped: Max turns reached (20/20)]"),
      result("analyze_subagent", "The sub-agent failed: vendor: no", { isError: true }),
    ]);
    expect(delegations).toEqual([
      { name: "parallel_analyze 1", task: "Look at it", session: "s.sub-1a2b", status: "ended" },
      { name: "parallel_analyze 2", task: "Look at it", status: "late", reason: "Max turns reached (20/20)" },
      {
        name: "analyze_subagent 3",
        task: "Look at it",
        status: "lost",
        reason: "The sub-agent failed: vendor: no",
      },
    ]);
  });

  test("has what diffs have shown, and notes that skip files; a failed call has shown nothing", () => {
    const details = { source: commits("A", "B"), hunks: { shown: ["a.ts:1"], left: [] } };
    const facts = readCoverageFacts([
      result("git_diff", "", { details }),
      result("git_diff", "", { details, isError: true }),
      result("workspace", "", {
        details: {
          operation: { type: "add-note", id: "1", text: "SKIP lib/x.ts: made by a tool\nand more" },
        },
      }),
    ]);
    expect(facts.shown).toEqual([{ source: commits("A", "B"), hunks: ["a.ts:1"] }]);
    expect(facts.skipped).toEqual([{ path: "lib/x.ts", reason: "made by a tool" }]);
  });
});

test("an answer without the required form is kept as a text [IRIS-30]", () => {
  const read = (name: string, text: string, output?: unknown) =>
    readArtifact({ output: { type: "artifact", name } }, { text, output });
  expect(read("GeneratedMessage", "", { title: "Add x" })).toMatchObject({ type: "GeneratedMessage" });
  expect(read("GeneratedMessage", 'Here: {"title": "Add x"}')).toMatchObject({ value: { title: "Add x" } });
  expect(read("GeneratedMessage", "I cannot.")).toEqual({ type: "PlainText", value: { text: "I cannot." } });
  expect(read("Review", "All is well.")).toMatchObject({
    type: "Review",
    value: { summary: "All is well.", findings: [], stats: { is_complete: false } },
  });
  expect(read("MarkdownChangelog", "# 1.0")).toEqual({
    type: "MarkdownChangelog",
    value: { content: "# 1.0" },
  });
  expect(read("SemanticBlame", "Because.")).toEqual({ type: "SemanticBlame", value: { text: "Because." } });
  expect(read("Review", "")).toBeUndefined();
});

test("references leave a text when they have served", () => {
  expect(
    removeReferences("- Adds a queue. [1a2b3c4d:src/queue.ts:40-52]\n- More `1a2b3c4d:a.ts:1`, too."),
  ).toBe("- Adds a queue.\n- More, too.");
});
