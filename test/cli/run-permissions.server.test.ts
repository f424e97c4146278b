import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { main } from "../../src/apps/cli/program.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { formatConnectionOptions } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import { createTerminal } from "./terminal.ts";

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

/** Starts `holdfast run` with an agent that calls bash once and then answers. */
function startRun(task: string, { isTTY = false, flags = [] as readonly string[] } = {}) {
  stage.model.script({
    conversations: [
      {
        match: ({ firstUserText }) => firstUserText === task,
        replies: [
          {
            text: "Let me see.",
            toolCalls: [{ name: "bash", arguments: { command: "printf %s-%s seen 42" } }],
          },
          { text: "All done." },
        ],
      },
    ],
  });
  const terminal = createTerminal({ isTTY });
  const model = ["--model", "local/test-model", "--base-url", stage.model.openaiBaseUrl, "--tools", "bash"];
  const args = ["run", task, ...model, ...formatConnectionOptions(stage), ...flags];
  const type = (text: string) => terminal.streams.stdin.write(`${text}\n`);
  return { ended: main(args, terminal.streams), said: terminal.said, type };
}

/** What the model was told about its call. */
function readToolResult(task: string): string {
  const requests = stage.model.requests.filter(({ body }) => JSON.stringify(body).includes(task));
  const { messages = [] } = (requests.at(-1)?.body ?? {}) as {
    messages?: { role: string; content: unknown }[];
  };
  return JSON.stringify(messages.find(({ role }) => role === "tool")?.content);
}

describe("where nobody is at the terminal", () => {
  test("an unsafe call is denied, the model is told why, and the command says so; the answer is alone on standard output", async () => {
    const { ended, said } = startRun("Refuse");
    expect(await ended).toBe(0);
    expect(said.out).toBe("All done.\n");
    expect(said.err).toContain("Nobody can be asked here");
    expect(said.err).toMatch(/answered · 2 turns · .*tokens.* · session /);
    expect(readToolResult("Refuse")).toContain("nobody is there to approve it");
  });

  test.each([["--yes"], ["--allow", "bash(printf)"]])("%s %s runs it", async (...flags) => {
    const task = `Run with ${flags.join(" ")}`;
    const { ended, said } = startRun(task, { flags: flags.filter((flag) => flag !== undefined) });
    expect(await ended).toBe(0);
    expect(said.out).toBe("All done.\n");
    expect(said.err).toContain("seen-42");
    expect(readToolResult(task)).toContain("seen-42");
  });

  thoroughTest("-q prints the answer and nothing else", async () => {
    const { ended, said } = startRun("Quiet", { flags: ["-q", "--yes"] });
    expect(await ended).toBe(0);
    expect(said).toEqual({ out: "All done.\n", err: "" });
  });
});

describe("at a terminal", () => {
  test("the command asks about an unsafe call, and again after what is no answer", async () => {
    const { ended, said, type } = startRun("Ask", { isTTY: true });
    await eventually(() => said.err.includes("approve? "), { what: "the question" });
    expect(said.err).toContain("printf %s-%s seen 42");
    expect(said.out + said.err).not.toContain("seen-42");
    type("hmm");
    await eventually(() => said.err.includes("Not an answer"), { what: "the hint" });
    type("y");
    expect(await ended).toBe(0);
    expect(said.out).toContain("seen-42");
    expect(said.out.match(/All done\./g)).toHaveLength(1);
  });

  thoroughTest("a denial reaches the model with its reason", async () => {
    const { ended, said, type } = startRun("Deny", { isTTY: true });
    await eventually(() => said.err.includes("approve? "), { what: "the question" });
    type("n use the file instead");
    expect(await ended).toBe(0);
    expect(readToolResult("Deny")).toContain("use the file instead");
  });
});

thoroughTest("--max-tool-calls ends the run before its next answer", async () => {
  const { ended, said } = startRun("Limit", { flags: ["--yes", "--max-tool-calls", "1"] });
  expect(await ended).not.toBe(0);
  expect(said.err).toContain("Max tool calls reached (1/1)");
});
