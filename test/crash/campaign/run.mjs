import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { formatSessionName, SCENARIOS } from "./scenarios.mjs";
import { createUserActions, RunEndedError } from "./user-actions.mjs";

/** A session of a wave, with all that is known of it from outside. */
export async function prepare(wave, scenario, nth, { folder, vendorUrl }) {
  const session = formatSessionName(wave, scenario, nth);
  const workspace = join(folder, "work", session);
  await mkdir(workspace, { recursive: true });
  const { steps, agent = {}, settings = {} } = SCENARIOS[scenario];
  const tools = new Set(["bash", "effect_unsafe", "effect_idempotent", "effect_pure", "effect_quick"]);
  const definition = {
    name: scenario,
    systemPrompt: `You play ${scenario}.`,
    tools: [...tools],
    toolStrategy: { type: "parallel" },
    permissions: { otherwise: "allow" },
    nudges: { enabled: false },
    workspace,
    ...agent,
    model: {
      id: "scripted-model",
      api: "anthropic_messages",
      provider: "anthropic",
      baseUrl: vendorUrl,
      contextWindow: 200_000,
      headers: { "x-conversation": session },
    },
  };
  return {
    session,
    scenario,
    workspace,
    definition,
    settings,
    steps: steps.length,
    sent: [],
    runIds: [],
    results: [],
  };
}

/** Plays it to its end; never throws. */
export async function play(run, stage, { taskQueue, timeoutMs }) {
  const { again, isCarriedOver, people } = SCENARIOS[run.scenario];
  const ended = new AbortController();
  const prompt = { id: `${run.session}-p`, text: `<message ${run.session}-p> Go` };
  const begin = async (request) => {
    const handle = await stage.client.workflow.start("agent", {
      workflowId: run.session,
      taskQueue,
      workflowTaskTimeout: "5s",
      args: [{ definition: run.definition, settings: run.settings, ...request }],
    });
    run.runIds.push(handle.firstExecutionRunId);
    await waitForEnd(run, handle, timeoutMs);
  };
  const talking = async () => {
    try {
      await people?.(createUserActions(run, stage, ended.signal));
    } catch (error) {
      if (!(error instanceof RunEndedError)) run.error = `people: ${error}`;
    }
  };
  run.startedAtMs = Date.now();
  run.sent.push({ id: prompt.id, kind: "prompt" });
  const talked = talking();
  try {
    await begin({ prompt });
    if (again === true && run.results[0]?.status === "completed") {
      const continuation = { kind: { type: "rerun", tag: "again" }, at: { branch: "main", position: 1 } };
      const definition = {
        ...run.definition,
        systemPrompt: `${run.definition.systemPrompt} Do it once more.`,
      };
      await begin({ definition, continuation });
    }
    if (isCarriedOver === true && run.results[0]?.status === "completed") await stage.carryOver();
  } catch (error) {
    run.error = `start: ${error}`;
  }
  ended.abort();
  await talked;
}

async function waitForEnd(run, handle, timeoutMs) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve({ status: "running" }), timeoutMs);
  });
  const result = retryResult(handle).then(
    (value) => ({ status: "completed", outcome: value.outcome }),
    (error) => ({ status: "failed", message: String(error?.cause?.message ?? error) }),
  );
  run.results.push({ ...(await Promise.race([result, late])), atMs: Date.now() });
  clearTimeout(timer);
  if (run.results.at(-1).status === "running")
    await handle.terminate("the campaign has lost its patience").catch(() => {});
  run.closedAtMs = Date.now();
}

/** A server that is away for a while says nothing about the run. */
async function retryResult(handle) {
  for (;;) {
    try {
      return await handle.result();
    } catch (error) {
      if (error?.name !== "ServiceError") throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
