import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { formatJsonLines } from "../../src/devkit/scenario/json-lines.ts";
import { runScenario } from "../../src/devkit/scenario/run-scenario.ts";
import { readScenarios, type Scenario } from "../../src/devkit/scenario/schema.ts";
import { HOOK_POINTS } from "../../src/schema/hooks.ts";

const all = readScenarios(JSON.parse(readFileSync(new URL("./hooks.json", import.meta.url), "utf8")));
const named = (name: string): Scenario => {
  const found = all.find((scenario) => scenario.name === name);
  if (found === undefined) throw new Error(`hooks.json has no scenario "${name}"`);
  return found;
};

type Line = { readonly type: string; readonly hook?: string; readonly [field: string]: unknown };

async function linesOf(scenario: Scenario): Promise<readonly Line[]> {
  return formatJsonLines(await runScenario(scenario)).map((line) => JSON.parse(line));
}

test("each point receives the documented arguments [CB-01.1, CB-02.1-2, CB-02.4-5, LOOP-15.3, CB-02.3]", async () => {
  const lines = await linesOf(named("all hooks at once say yes, in the strict order"));
  const hooks = lines.filter(({ type }) => type === "hook");
  const first = (point: string) => hooks.find(({ hook }) => hook === point);
  expect(new Set(hooks.map(({ hook }) => hook))).toEqual(new Set(HOOK_POINTS));
  expect(first("before-task")).toEqual({
    type: "hook",
    scenario: "all hooks at once say yes, in the strict order",
    hook: "before-task",
    name: "all",
    answer: "yes",
  });
  expect(first("before-loop")).toMatchObject({ turn: 0, messages: ["user: hi"] });
  expect(first("before-turn")).toMatchObject({ loop: 0, turn: 0, messages: ["user: hi"] });
  expect(first("before-tool")).toMatchObject({ turn: 0, call: "call_0_0", tool: "look", arguments: {} });
  expect(first("before-tool-update")).toMatchObject({ call: "call_0_0", text: "a" });
  expect(first("after-tool-update")).toMatchObject({ call: "call_0_0", text: "a" });
  expect(first("after-tool")).toMatchObject({ call: "call_0_0", tool: "look", isError: false });
  expect(first("after-turn")).toMatchObject({ turn: 0, usage: { input: 10, output: 5 } });
  expect(first("before-compaction")).toMatchObject({ loop: 0, messageCount: 7 });
  expect(first("after-compaction")).toMatchObject({ messagesBefore: 7, messagesAfter: 6 });
  expect(first("on-text")).toMatchObject({ turn: 4, text: "one" });
  expect(first("after-loop")).toMatchObject({ loop: 0, usage: { input: 1630, output: 20 } });
  expect(first("on-error")).toMatchObject({ loop: 1, error: "anthropic answered 400: nonsense" });
});

test("hook lines keep their order among the events", async () => {
  const lines = await linesOf(named("before-turn gives words to the model, behind those of people"));
  expect(lines.slice(0, 3)).toMatchObject([
    { type: "event", event: "AgentStart" },
    { type: "hook", hook: "before-turn", name: "budget", answer: { inject: "Five turns are left." } },
    { type: "event", event: "TurnStart" },
  ]);
});

test("a story that differs from the expected one is reported", async () => {
  const scenario = named("before-turn says no: the loop ends without a turn");
  const expected = { ...scenario.expect, story: ["AgentStart initial", "..."], hooks: [] };
  const { problems } = await runScenario({ ...scenario, expect: expected });
  expect(problems).toEqual([
    "hooks: expected\nfound\nbefore-turn gate: no, enough".replace("found\n", "found\n  "),
  ]);
});
