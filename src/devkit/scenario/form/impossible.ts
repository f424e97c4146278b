import { isUpdatePoint } from "../../../schema/hooks.ts";
import { createViewTools } from "../../../tools/builtin/view-tools.ts";
import type { Arrival, Scenario } from "../schema.ts";
import { getPoints } from "./hook.ts";

type ScenarioProblem = { readonly path: readonly (string | number)[]; readonly message: string };

/** Finds what can never happen, as far as that is known without running the scenario. */
export function findProblems(scenario: Scenario): ScenarioProblem[] {
  return [
    ...checkTools(scenario),
    ...checkFilters(scenario),
    ...checkHooks(scenario),
    ...checkModel(scenario),
    ...checkArrivals(scenario),
  ];
}

function checkModel({ agent }: Scenario): ScenarioProblem[] {
  const { model } = agent as { model?: { api?: unknown; baseUrl?: unknown; apiKey?: unknown } };
  const problems: ScenarioProblem[] = [];
  if (model?.api !== undefined && model.api !== "anthropic_messages") {
    problems.push({ path: ["agent", "model", "api"], message: "scenarios support only anthropic_messages" });
  }
  for (const field of ["baseUrl", "apiKey", "headers"] as const) {
    if (model !== undefined && field in model) {
      problems.push({ path: ["agent", "model", field], message: "is set by the driver; omit it" });
    }
  }
  if ("hooks" in agent) {
    const message =
      'is derived from the scenario\'s own "hooks": declare them next to "tools"; commands are not supported';
    problems.push({ path: ["agent", "hooks"], message });
  }
  if ("workspace" in agent)
    problems.push({ path: ["agent", "workspace"], message: "is set by the driver; omit it" });
  return problems;
}

function checkFilters({ filters }: Scenario): ScenarioProblem[] {
  return filters.flatMap(({ name }, at) =>
    filters.findIndex((filter) => filter.name === name) === at
      ? []
      : [{ path: ["filters", at, "name"], message: `two filters have the name "${name}"` }],
  );
}

function checkHooks({ hooks }: Scenario): ScenarioProblem[] {
  return hooks.flatMap((hook, at): ScenarioProblem[] => {
    const { name, answers, timeoutMs } = hook;
    const found: ScenarioProblem[] = [];
    if (hooks.findIndex((one) => one.name === name) !== at) {
      found.push({ path: ["hooks", at, "name"], message: `two hooks have the name "${name}"` });
    }
    if (!answers.includes("hangs")) return found;
    if (timeoutMs === undefined || timeoutMs > MAX_HANG_MS) {
      const message = `"${name}" hangs: give it a time limit of at most ${MAX_HANG_MS} ms, which passes in real time`;
      found.push({ path: ["hooks", at, "timeoutMs"], message });
    }
    const update = getPoints(hook).find(isUpdatePoint);
    if (update !== undefined) {
      found.push({ path: ["hooks", at, "answers"], message: `"${name}" cannot hang at ${update}` });
    }
    return found;
  });
}

function checkTools({ tools }: Scenario): ScenarioProblem[] {
  const problems: ScenarioProblem[] = [];
  tools.forEach(({ name, quick, replay, timeoutMs, does, touches = {}, parameters }, at) => {
    for (const argument of [touches.path, touches.command]) {
      if (argument !== undefined && !Object.hasOwn(parameters, argument)) {
        problems.push({
          path: ["tools", at, "touches"],
          message: `"${name}" has no parameter "${argument}"`,
        });
      }
    }
    if (tools.findIndex((tool) => tool.name === name) !== at) {
      problems.push({ path: ["tools", at, "name"], message: `two tools have the name "${name}"` });
    }
    if (quick && replay !== "pure") {
      problems.push({
        path: ["tools", at, "quick"],
        message: `only a pure tool can be quick; "${name}" is ${replay}`,
      });
    }
    if (VIEW_TOOLS.includes(name)) {
      problems.push({
        path: ["tools", at, "name"],
        message: `"${name}" is a built-in tool: list it in agent.tools`,
      });
    }
    does.forEach(({ hangs, takesMs, shows }, deed) => {
      const path = ["tools", at, "does", deed];
      if (quick && shows !== undefined) {
        problems.push({ path, message: 'a quick tool streams no output: omit "quick"' });
      }
      if (quick && (hangs === true || (takesMs ?? 0) >= 2000)) {
        problems.push({ path, message: "a quick tool must end within two seconds" });
      }
      if (timeoutMs !== undefined && (takesMs ?? 0) >= timeoutMs) {
        problems.push({
          path,
          message: `takes as long as its timeout of ${timeoutMs} ms: use "hangs" instead`,
        });
      }
    });
  });
  return problems;
}

function checkArrivals({ arrives, tools, model, prompt, mode }: Scenario): ScenarioProblem[] {
  const ids = model.flatMap(({ toolCalls = [] }, reply) =>
    toolCalls.map(({ id, name }, call) => ({ id: id ?? `call_${reply}_${call}`, name })),
  );
  const problems: ScenarioProblem[] = [];
  const starts = arrives.filter(({ when }) => when.with !== undefined);
  arrives.forEach((arrival, at) => {
    const say = (field: string, message: string) => problems.push({ path: ["arrives", at, field], message });
    const { when } = arrival;
    const named = when.call;
    if (named !== undefined) {
      const name = ids.find((call) => call.id === named)?.name ?? named;
      if (!ids.some((call) => call.id === named || call.name === named)) {
        say("when", `no reply of the model calls "${named}"`);
      } else if (tools.find((tool) => tool.name === name)?.quick === true) {
        say("when", `"${name}" is quick: nothing can arrive while it runs`);
      }
    }
    if (when.during === "wait" && mode !== "interactive")
      say("when", "only an interactive run waits for prompts");
    if (RUN_STARTERS.includes(arrival.do) && when.after === undefined)
      say("when", 'a run begins after the end of the previous one: use {"after": "end"}');
    if (RUNNING_ACTIONS.includes(arrival.do) && when.during !== "model" && when.during !== "tool") {
      say("when", `"${arrival.do}" comes {"during": "model"} or {"during": "tool"}`);
    }
    if (when.after !== undefined && !IDLE_ACTIONS.includes(arrival.do)) {
      say("do", `"${arrival.do}" needs an open run; possible after the end: ${IDLE_ACTIONS.join(", ")}`);
    }
    if (when.with !== undefined && (starts.length > 1 || !START_ACTIONS.includes(arrival.do))) {
      say("when", `exactly one of ${START_ACTIONS.join(", ")} can arrive with the start`);
    }
  });
  if (prompt === undefined && mode === "run" && starts.length === 0) {
    problems.push({
      path: ["prompt"],
      message: 'a run needs a prompt, or a message that arrives {"with": "start"}',
    });
  }
  return problems;
}

/** The longest real time that a scenario may wait for a hook. */
const MAX_HANG_MS = 2000;

const VIEW_TOOLS: readonly string[] = createViewTools().map(({ name }) => name);

const RUN_STARTERS: readonly Arrival["do"][] = ["run", "continue"];
const IDLE_ACTIONS: readonly Arrival["do"][] = ["steer", "followUp", "run", "continue"];
const RUNNING_ACTIONS: readonly Arrival["do"][] = ["crash", "continueAsNew"];
const START_ACTIONS: readonly Arrival["do"][] = ["steer", "followUp", "stop", "queueMode"];
