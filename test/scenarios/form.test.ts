import { describe, expect, test } from "vitest";
import { formatJsonLines } from "../../src/devkit/scenario/json-lines.ts";
import { playPlain } from "../../src/devkit/scenario/plain.ts";
import { runScenario } from "../../src/devkit/scenario/run-scenario.ts";
import { readScenarios, type Scenario } from "../../src/devkit/scenario/schema.ts";

function refusal(scenario: unknown): string {
  try {
    readScenarios(scenario);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

const one = (scenario: unknown): Scenario => readScenarios(scenario)[0] as Scenario;

describe("an invalid scenario is reported with the position and the reason", () => {
  test.each([
    [{ name: "s", promt: "hi" }, '"s": unknown field "promt". Did you mean "prompt"?'],
    [
      { name: "s", prompt: "hi", tools: [{ name: "a", does: [{ give: "x" }] }] },
      '"s": tools.0.does.0: unknown field "give". Did you mean "gives"?',
    ],
    [
      { name: "s", prompt: "hi", agent: { limits: { maxTurn: 3 } } },
      '"s": agent.limits: unknown field "maxTurn". Did you mean "maxTurns"?',
    ],
    [
      { name: "s", prompt: "hi", arrives: [{ when: { during: "model" }, do: "steer", txt: "x" }] },
      '"s": arrives.0: unknown field "txt". Did you mean "text"? Known: when, do, text, id.',
    ],
    [
      { name: "s", prompt: "hi", arrives: [{ when: { during: "model" }, do: "aprove" }] },
      '"s": arrives.0.do: unknown value "aprove". Did you mean "approve"?',
    ],
    [{ name: "s", arrives: [{ when: { after: "end" }, do: "run" }] }, '"s": arrives.0.text: is missing'],
    [
      { name: "s", prompt: "hi", arrives: [{ when: { during: "close" }, do: "crash" }] },
      '"s": arrives.0.when: "crash" comes {"during": "model"} or {"during": "tool"}',
    ],
    [
      { name: "s", prompt: "hi", hooks: [{ name: "a", at: "before-tols" }] },
      '"s": hooks.0.at: must be a hook point or a list of hook points; the hook points are before-task,',
    ],
    [
      { name: "s", prompt: "hi", hooks: [{ name: "a", at: "before-tool", answers: [{ nope: "x" }] }] },
      '"s": hooks.0.answers.0: unknown field "nope". Known: no, end, inject, forceText, goOn, throws.',
    ],
    [
      { name: "s", prompt: "hi", hooks: [{ name: "a", at: "before-tool", answers: ["perhaps"] }] },
      '"s": hooks.0.answers.0: must be "yes", "no", "goOn", "hangs", or one of {"no": …}',
    ],
    [
      { name: "s", prompt: "hi", hooks: [{ name: "a", at: "before-tool", answers: ["hangs"] }] },
      '"s": hooks.0.timeoutMs: "a" hangs: give it a time limit of at most 2000 ms',
    ],
    [
      {
        name: "s",
        prompt: "hi",
        hooks: [{ name: "a", at: "after-tool-update", answers: ["hangs"], timeoutMs: 100 }],
      },
      '"s": hooks.0.answers: "a" cannot hang at after-tool-update',
    ],
    [
      { name: "s", prompt: "hi", agent: { hooks: { "before-tool": [{ command: "./x.sh" }] } } },
      '"s": agent.hooks: is derived from the scenario\'s own "hooks": declare them next to "tools"',
    ],
    [
      { name: "s", prompt: "hi", tools: [{ name: "prun" }] },
      '"s": tools.0.name: "prun" is a built-in tool: list it in agent.tools',
    ],
    [
      {
        name: "s",
        prompt: "hi",
        tools: [{ name: "a", quick: true, replay: "pure", does: [{ gives: "x", shows: ["y"] }] }],
      },
      '"s": tools.0.does.0: a quick tool streams no output',
    ],
  ])("%j", (scenario, message) => {
    expect(refusal(scenario)).toContain(message);
  });

  test("a question without an answer", async () => {
    const agent = { permissions: { otherwise: "ask" } };
    const model = [{ toolCalls: [{ name: "a" }] }];
    const playing = playPlain(one({ name: "s", prompt: "hi", agent, tools: [{ name: "a" }], model }));
    await expect(playing).rejects.toThrow(
      'call_0_0 (a) would wait for approval forever: answer at {"during": "approval"}',
    );
  });

  test("a position that a branch does not have", async () => {
    const arrives = [{ when: { after: "end" }, do: "continue", kind: "rerun", at: 9 }];
    const playing = playPlain(one({ name: "s", prompt: "hi", arrives }));
    await expect(playing).rejects.toThrow('"at" is 9, but that branch has only 2 messages');
  });
});

test("the lines of a scenario: events with hook calls between them, requests, tool runs, the result", async () => {
  const model = [{ toolCalls: [{ name: "a", arguments: { n: 1 } }] }];
  const tools = [{ name: "a", parameters: { n: "number" } }];
  const report = await runScenario(one({ name: "s", prompt: "hi", tools, model }));
  const hooks = [
    { hook: "before_loop", eventsBefore: 0 },
    { hook: "before_turn", eventsBefore: 1 },
  ];
  const lines = formatJsonLines({ ...report, played: { ...report.played, hooks } }).map((line) =>
    JSON.parse(line),
  );
  expect(lines.slice(0, 4)).toMatchObject([
    { type: "hook", hook: "before_loop" },
    { type: "event", event: "AgentStart", scenario: "s" },
    { type: "hook", hook: "before_turn" },
    { type: "event", event: "TurnStart" },
  ]);
  expect(lines.filter(({ type }) => type === "sent")).toMatchObject([
    { nth: 0, turn: 0, for: "answer", tools: ["a"] },
    { nth: 1, turn: 1, for: "answer" },
  ]);
  expect(lines.filter(({ type }) => type === "ran")).toMatchObject([
    { call: "call_0_0", tool: "a", arguments: { n: 1 } },
  ]);
  expect(lines.at(-1)).toMatchObject({ type: "result", executed: ["call_0_0"], ok: true });
});
