import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { main } from "../../src/apps/cli/program.ts";
import { writeAgent } from "../../src/config/agent-file/write-agent.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import { createTerminal } from "../cli/terminal.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { formatConnectionOptions, runCommandLine } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import { TestEvaluation } from "./support/test-evaluation.ts";

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

/** The agent files of an evaluation, with the flags that name them. */
async function flagsOf(contest: TestEvaluation): Promise<string[]> {
  const flags: string[] = [];
  const all = [...contest.agents, ...(contest.judge === undefined ? [] : [contest.judge])];
  for (const [index, { definition }] of all.entries()) {
    const file = join(stage.home, `${contest.id.slice(-20)}-${index}.json`);
    await writeFile(file, writeAgent(AgentDefinition.parse(definition), "json"));
    flags.push(index < contest.agents.length ? "--agent" : "--judge", file);
  }
  return flags;
}

describe("holdfast compare", () => {
  test("prints the selected answer, and a table of all on standard error [PAR-01.3]", async () => {
    const contest = new TestEvaluation(
      stage,
      [{ replies: [{ text: "short" }] }, { replies: [{ text: "the long one" }] }],
      {
        replies: [{ text: "2" }],
      },
    );
    const { code, out, err } = await runCommandLine(stage, "compare", "Go", ...(await flagsOf(contest)));
    expect({ code, out }).toEqual({ code: 0, out: "the long one\n" });
    expect(err).toMatch(/^ {3}agent-1 +test-model +answered +1 +\d+ +\$0\.0000 +\d+\.\d$/m);
    expect(err).toMatch(/^\* {2}agent-2 +test-model +answered/m);
    expect(err).toContain("The judge chose branch 2.");
    expect(err).toMatch(/branch 2 · 1 turn · \d+ tokens/);
  });

  test("--json: one object per line, the result last", async () => {
    const contest = new TestEvaluation(stage, [{ replies: [{ text: "one" }] }]);
    const { code, out } = await runCommandLine(stage, "compare", "Go", "--json", ...(await flagsOf(contest)));
    expect(code).toBe(0);
    const lines = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines[0]).toMatchObject({ session: expect.any(String), event: { type: "ParallelLoopStart" } });
    expect(lines.at(-1)).toMatchObject({ type: "result", text: "one", otherBranches: [], exitCode: 0 });
  });

  thoroughTest("Ctrl-C stops the branches and selects the first that has answered", async () => {
    const contest = new TestEvaluation(stage, [
      { replies: [{ text: "never", holdUntil: "interrupted" }] },
      { replies: [{ text: "two" }] },
    ]);
    const { streams, said, signals } = createTerminal();
    const running = main(
      ["compare", "Go", ...(await flagsOf(contest)), ...formatConnectionOptions(stage)],
      streams,
    );
    await stage.model.waitForHold("interrupted");
    await expect.poll(() => said.err).toContain("branch 2 ended: answered");
    const [, session = ""] = /session (\S+)/.exec(said.err) ?? [];
    const { out: status } = await runCommandLine(stage, "status", session);
    expect(status).toMatch(/^branch 1 +agent-1 · test-model · running .* · \S+\.branch-1-[0-9a-f]{8}$/m);
    signals.emit("SIGINT");
    expect(await running).toBe(4);
    expect(said.out).toBe("two\n");
    expect(said.err).toContain("Stopping the branches");
    expect(said.err).toMatch(/stopped: interrupted at the terminal/);
  });

  thoroughTest.each([
    [["compare", "Go"], /No agents are given to compare/],
    [["compare"], /No task is given/],
    [["compare", " ", "-a", "x"], /The task is empty/],
    [["compare", "Go", "-a", "FILE", "--strategy", "judge"], /needs a judge agent/],
    [
      ["compare", "Go", "-a", "FILE", "-j", "FILE", "--strategy", "elaborate"],
      /--judge works only with the strategy judge/,
    ],
    [["compare", "Go", "-a", "FILE", "-a", "FILE", "--strategy", "transparent"], /passes one branch through/],
  ])("%j is rejected with a reason", async (words, reason) => {
    const contest = new TestEvaluation(stage, [{ replies: [] }]);
    const [, file = ""] = await flagsOf(contest);
    const { code, err } = await runCommandLine(
      stage,
      ...words.map((word) => (word === "FILE" ? file : word)),
    );
    expect(code).toBe(2);
    expect(err).toMatch(reason);
  });
});
