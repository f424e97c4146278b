// Measures what a review of a large change adds to its sub-agents, with models that answer at once.
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseModel } from "../dist/client/index.js";
import { startAgent } from "./agents.mjs";
import { computeQuantile, openEnvironment } from "./environment.mjs";
import { buildLargeRepository, commitChange } from "./git-repository.mjs";

const COMMAND = fileURLToPath(new URL("../dist/apps/cli/main.js", import.meta.url));
const TASK_QUEUE = "holdfast-git";
const FILES = 200;
const AGENTS = 8;
const run = promisify(execFile);

/**
 * Measures `holdfast git review` from the start of its process to its end, and a run whose sub-agents, as many, have no tools
 * and answer at once.
 */
export async function measureReview(rounds, log) {
  const folder = await buildLargeRepository(FILES);
  const stage = await openEnvironment();
  try {
    const change = commitChange(folder, FILES, FILES);
    const env = { BENCH_SCRIPT: JSON.stringify(scriptVendor(change)) };
    const { url } = (await stage.start("./git-vendor.mjs", [], env)).ready;
    await stage.start("./git-worker.mjs", ["--task-queue", TASK_QUEUE]);
    const caller = createCaller(url);
    const kinds = {
      children: async () => (await startAgent(stage.client, caller, "go", TASK_QUEUE)).result(),
      review: () => review(stage, folder, change.head, url),
    };
    const spent = { children: [], review: [] };
    for (let n = 0; n <= rounds; n++) {
      for (const [kind, work] of Object.entries(kinds)) {
        const from = performance.now();
        await work();
        if (n > 0) spent[kind].push(performance.now() - from);
        log(`${kind} ${n}: ${(performance.now() - from).toFixed(0)} ms with ${AGENTS} sub-agents`);
      }
    }
    const [reviewMs, childrenMs] = [spent.review, spent.children].map((times) =>
      Math.round(computeQuantile(times, 0.5)),
    );
    return { reviewMs, reviewChildrenMs: childrenMs, reviewOverheadMs: reviewMs - childrenMs };
  } finally {
    await stage.strike();
    await rm(folder, { recursive: true, force: true });
  }
}

async function review({ server, home }, folder, commit, url) {
  const place = ["--address", server.address, "--namespace", server.namespace, "--home", home];
  const model = ["--model", "local/null", "--base-url", url, "--no-critic"];
  const args = ["git", "review", "--repo", folder, "--commit", commit, "--json", ...model, ...place];
  const { stdout } = await run(process.execPath, [COMMAND, ...args], { maxBuffer: 1e9 });
  const { coverage } = JSON.parse(stdout.trim().split("\n").at(-1));
  if (coverage.delegated !== FILES) throw new Error(`The review has examined: ${coverage.sentence}`);
}

/** Each sub-agent of the review reads its files, and has nothing to say. */
function scriptVendor({ paths, base, head }) {
  const share = FILES / AGENTS;
  const parts = Array.from({ length: AGENTS }, (_, nth) => paths.slice(nth * share, (nth + 1) * share));
  const readers = parts.map((files, nth) => ({
    match: `Examine part ${nth + 1}.`,
    replies: [call("git_diff", { from: base, to: head, detail: "standard", files }), { text: "Sound." }],
  }));
  const review = JSON.stringify({ summary: "Nothing is wrong.", findings: [] });
  return {
    conversations: [
      ...readers,
      { match: "Review the change", replies: [delegate("parallel_analyze"), { text: review }] },
      { match: "Delegate at once", replies: [delegate("scout")] },
    ],
  };
}

function delegate(tool) {
  const tasks = Array.from({ length: AGENTS }, (_, nth) => `Examine part ${nth + 1}.`);
  return {
    toolCalls: tasks.map((task) => ({
      name: tool,
      arguments: { task: tool === "scout" ? task.replace("Examine", "Answer") : task },
    })),
  };
}

function call(name, args) {
  return { toolCalls: [{ name, arguments: args }] };
}

function createCaller(baseUrl) {
  const model = parseModel("local/null", { baseUrl });
  const scout = { name: "scout", description: "Answers", agent: { name: "scout", model } };
  return { name: "bench", systemPrompt: "Delegate at once.", model, subAgents: [scout] };
}
