import { isUpdatePoint } from "../../../schema/hooks.ts";
import { createViewTools } from "../../../tools/builtin/view-tools.ts";
import type { Arrival, Scenario } from "../schema.ts";
import { getPoints } from "./hook.ts";

type ScenarioProblem = { readonly path: readonly (string | number)[]; readonly message: string };

/** What can never happen, as far as it can be seen without running the scenario. */
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
    problems.push({ path: ["agent", "model", "api"], message: "scenarios speak anthropic_messages only" });
  }
  for (const field of ["baseUrl", "apiKey", "headers"] as const) {
    if (model !== undefined && field in model) {
      problems.push({ path: ["agent", "model", field], message: "is the driver's own" });
    }
  }
  if ("hooks" in agent) {
    const message =
      'is made of the scenario\'s own "hooks": declare them beside "tools"; commands are not played';
    problems.push({ path: ["agent", "hooks"], message });
  }
  if ("workspace" in agent) problems.push({ path: ["agent", "workspace"], message: "is the driver's own" });
  return problems;
}

function checkFilters({ filters }: Scenario): ScenarioProblem[] {
  return filters.flatMap(({ name }, at) =>
    filters.findIndex((filter) => filter.name === name) === at
      ? []
      : [{ path: ["filters", at, "name"], message: `two filters are called "${name}"` }],
  );
}

function checkHooks({ hooks }: Scenario): ScenarioProblem[] {
  return hooks.flatMap((hook, at): ScenarioProblem[] => {
    const { name, answers, timeoutMs } = hook;
    const found: ScenarioProblem[] = [];
    if (hooks.findIndex((one) => one.name === name) !== at) {
      found.push({ path: ["hooks", at, "name"], message: `two hooks are called "${name}"` });
    }
    if (!answers.includes("hangs")) return found;
    if (timeoutMs === undefined || timeoutMs > MAX_HANG_MS) {
      const message = `"${name}" hangs: give it a time limit of at most ${MAX_HANG_MS} ms, which truly passes`;
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
      problems.push({ path: ["tools", at, "name"], message: `two tools are called "${name}"` });
    }
    if (quick && replay !== "pure") {
      problems.push({
        path: ["tools", at, "quick"],
        message: `only a pure tool may be quick; "${name}" is ${replay}`,
      });
    }
    if (VIEW_TOOLS.includes(name)) {
      problems.push({
        path: ["tools", at, "name"],
        message: `"${name}" is there already: name it in agent.tools`,
      });
    }
    does.forEach(({ hangs, takesMs, shows }, deed) => {
      const path = ["tools", at, "does", deed];
      if (quick && shows !== undefined) {
        problems.push({ path, message: 'a quick tool shows nothing while it runs: leave out "quick"' });
      }
      if (quick && (hangs === true || (takesMs ?? 0) >= 2000)) {
        problems.push({ path, message: "a quick tool must end within two seconds" });
      }
      if (timeoutMs !== undefined && (takesMs ?? 0) >= timeoutMs) {
        problems.push({
          path,
          message: `takes as long as its time-out of ${timeoutMs} ms: say "hangs" instead`,
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
        say("when", `"${name}" is quick: nothing arrives while it runs`);
      }
    }
    if (when.during === "wait" && mode !== "interactive") say("when", "only an interactive run waits");
    if (RUN_STARTERS.includes(arrival.do) && when.after === undefined)
      say("when", 'a run begins after the end: {"after": "end"}');
    if (RUNNING_ACTIONS.includes(arrival.do) && when.during !== "model" && when.during !== "tool") {
      say("when", `"${arrival.do}" comes {"during": "model"} or {"during": "tool"}`);
    }
    if (when.after !== undefined && !IDLE_ACTIONS.includes(arrival.do)) {
      say("do", `"${arrival.do}" needs a run; after the end there are ${IDLE_ACTIONS.join(", ")}`);
    }
    if (when.with !== undefined && (starts.length > 1 || !START_ACTIONS.includes(arrival.do))) {
      say("when", `one of ${START_ACTIONS.join(", ")} can come with the start, and one only`);
    }
  });
  if (prompt === undefined && mode === "run" && starts.length === 0) {
    problems.push({
      path: ["prompt"],
      message: 'a run needs a prompt, or a message that comes {"with": "start"}',
    });
  }
  return problems;
}

/** Longest time that a scenario may truly wait for a hook. */
const MAX_HANG_MS = 2000;

const VIEW_TOOLS: readonly string[] = createViewTools().map(({ name }) => name);

const RUN_STARTERS: readonly Arrival["do"][] = ["run", "continue"];
const IDLE_ACTIONS: readonly Arrival["do"][] = ["steer", "followUp", "run", "continue"];
const RUNNING_ACTIONS: readonly Arrival["do"][] = ["crash", "continueAsNew"];
const START_ACTIONS: readonly Arrival["do"][] = ["steer", "followUp", "stop", "queueMode"];
