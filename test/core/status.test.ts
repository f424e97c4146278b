import { describe, expect, test } from "vitest";
import { formatDashboard } from "../../src/core/machine/dashboard.ts";
import { buildStatus, buildStatusAttributes, getStatusCode } from "../../src/core/machine/status.ts";
import { play, type Run } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

const bytes = (text: string) => Buffer.byteLength(text);

describe("status", () => {
  test("has a code for each state of a run", async () => {
    const word = (run: Run) => getStatusCode(run.state);
    expect(word(play({ held: true }))).toBe("running");
    expect(word(await play().until("call-model"))).toBe("running");
    expect(word(await play({ mode: "interactive" }).settle())).toBe("waiting");
    expect(word(await play().until("call-model").stop())).toBe("stopping");
    expect(word(await play().settle())).toBe("completed");
    expect(word(play({ prompts: [] }))).toBe("completed");
    expect(word(await play().stop().settle())).toBe("stopped");
    expect(word(await play().until("call-model").fail("auth").settle())).toBe("failed");
    expect(word(await play({ limits: { maxTurns: 1 }, replies: [calls("bash")] }).settle())).toBe(
      "limit-reached",
    );
  });

  test("describes the current step in plain text", async () => {
    const doing = (run: Run) => buildStatus(run.state).statusText;
    expect(doing(play({ held: true }))).toBe("opening the loop");
    expect(doing(await play().until("call-model"))).toBe("calling the model (turn 0)");
    const tools = await play({
      replies: [calls({ name: "bash", arguments: { text: "", command: "npm test" } }, "edit")],
    }).until("call-tools");
    expect(doing(tools)).toBe("running bash: npm test, edit");
    expect(doing(await play().until("close-loop"))).toBe("closing the loop");
    expect(doing(await play({ mode: "interactive" }).settle())).toBe("waiting for a prompt");
    expect(doing(await play().settle())).toBe("nothing: the run has ended");
    expect(doing(await play({ mode: "interactive" }).settle().rotationDue())).toBe("continuing as a new run");
    expect(doing(await play().until("close-loop").steer("x").step())).toBe("recording the remaining events");
  });

  test("covers turns, cost and queues of all loops of the run", async () => {
    const run = play({
      mode: "interactive",
      replies: [says("a", { costUsd: 1 }), { ...calls("bash"), costUsd: 2 }],
    });
    await run.settle().prompt("b").until("call-tools").steer("x").followUp("y").followUp("z");
    expect(buildStatus(run.state)).toMatchObject({
      turns: 1,
      costUsd: 3,
      queued: { steering: 1, followUps: 2 },
      lastText: expect.stringMatching(/^calling /),
    });
    expect(buildStatus((await run.step()).state)).toMatchObject({ turns: 2 });
    expect(buildStatus((await run.settle()).state)).toMatchObject({ turns: 5, loopId: "s.test.2" });
  });

  test("truncates the last text at a whole character, also after the loop has ended [IRON-14.2]", async () => {
    const run = await play({ replies: [says("\u{1F980}".repeat(300))] }).settle();
    const text = buildStatus(run.state).lastText ?? "";
    expect(bytes(text)).toBeLessThanOrEqual(259);
    expect(text).toBe(`${"\u{1F980}".repeat(64)}...`);
  });

  test("masks a key in a prompt or an answer, as does the dashboard [3.16]", async () => {
    const key = "sk-abcdefghijklmnopqrstuvwxyz012345";
    const run = await play({ prompts: [`use ${key}`], replies: [says(`I use ${key}`)] }).settle();
    expect(formatDashboard(run.state)).not.toContain(key);
    expect(JSON.stringify(buildStatus(run.state))).not.toContain(key);
  });
});

test("the attributes of a run have the turns and the cost of all its loops, also while one is open", async () => {
  const run = play({
    mode: "interactive",
    replies: [says("a", { costUsd: 1 }), { ...calls("bash"), costUsd: 2 }],
  });
  const read = () => {
    const { status, turns, costUsd } = buildStatusAttributes(run.state);
    return { status, turns, costUsd };
  };
  expect(read()).toMatchObject({ turns: 0, costUsd: 0 });
  await run.settle();
  expect(read()).toEqual({ status: "waiting", turns: 1, costUsd: 1 });
  await run.prompt("b").until("call-tools");
  expect(read()).toEqual({ status: "running", turns: 1, costUsd: 3 });
  await run.stop().settle();
  expect(read()).toMatchObject({ turns: 2, costUsd: 3 });
});

describe("dashboard", () => {
  test("lists status, goal, agent, model, turns, cost, budget, context, queues and last text", async () => {
    const run = play({
      prompts: ["mend the test"],
      limits: { maxTurns: 9 },
      replies: [calls({ name: "bash", arguments: { text: "", command: "npm test" } })],
    });
    await run.until("call-tools");
    expect(formatDashboard(run.state).split("\n")).toEqual([
      "- **Status**: **running** · running bash: npm test",
      "- **Goal**: mend the test",
      "- **Agent**: tester",
      "- **Model**: model-1",
      "- **Turns**: 0 of 9 a loop",
      "- **Cost**: $0.0000",
      "- **Budget**: turns 0 of 9",
      expect.stringMatching(/^- \*\*Context\*\*: about \d+ tokens$/),
      "- **Queued**: 0 steering, 0 follow-up",
      "- **Last text**: calling ...",
    ]);
    expect(formatDashboard(play({ held: true }).state)).toContain("none yet");
  });

  test("has a fixed number of lines, whatever users and models write", async () => {
    const run = await play({ prompts: ["a\n\nb\r\n# c"], replies: [says("x\ny")] }).settle();
    expect(formatDashboard(run.state).split("\n")).toHaveLength(9);
    expect(formatDashboard(run.state)).toContain("a b # c");
  });

  test("has at most 4 KiB, however many calls run and however long the texts are", async () => {
    const many = Array.from({ length: 60 }, () => ({
      name: "bash",
      arguments: { text: "", command: "\u4e16".repeat(40) },
    }));
    const run = play({
      prompts: ["\u4e16".repeat(5000)],
      replies: [calls(...many), says("\u4e16".repeat(5000))],
    });
    await run.until("call-tools");
    expect(bytes(formatDashboard(run.state))).toBeLessThanOrEqual(4096);
    await run.settle();
    expect(bytes(formatDashboard(run.state))).toBeLessThanOrEqual(4096);
  });
});
