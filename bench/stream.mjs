import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { connect } from "../dist/client/index.js";
import { startAgent } from "./agents.mjs";
import { quantile, round, setStage } from "./stage.mjs";

/** As many tokens as a piece of the vendor has words. */
const TOKENS_A_PIECE = 4;
const WATCHERS = [1, 10, 100];
const now = () => performance.timeOrigin + performance.now();

/** Vendor, worker and watchers are processes of their own; what is compared alternates. */
export async function measure({ log, quick }) {
  const stage = await setStage();
  const vendor = await stage.start("./stream-vendor.mjs");
  await stage.start("./stream-worker.mjs", ["--task-queue", "live"]);
  await stage.start("./stream-worker.mjs", ["--task-queue", "null", "--null-hub"]);
  const { address, namespace } = stage.server;
  const holdfast = await connect({ address, namespace, home: stage.home, taskQueue: "live" });
  const bench = { stage, holdfast, url: vendor.ready.url, log };
  try {
    const added = await firstTokens(bench, quick ? 8 : 120);
    const watchers = [];
    for (const count of WATCHERS) watchers.push(await throughput(bench, count, quick ? 200 : 2_000));
    const { percent, ms } = await costs(bench, quick ? 4 : 40);
    return {
      ttftAddedP50Ms: round(quantile(added, 0.5)),
      ttftAddedP99Ms: round(quantile(added, 0.99)),
      watchers,
      runCostPercent: round(percent),
      runCostMsPerTurn: round(ms),
    };
  } finally {
    await holdfast.close();
    await stage.strike();
  }
}

function agentThat(url, said) {
  return {
    name: "stream",
    systemPrompt: JSON.stringify({ chunkDelayMs: 0, firstByteDelayMs: 0, ...said }),
    model: {
      id: "scripted",
      api: "anthropic_messages",
      provider: "scripted",
      baseUrl: url,
      contextWindow: 200_000,
    },
    tools: [],
    limits: { maxTurns: null, maxTotalTokens: null, maxDurationMs: null },
  };
}

/** From the vendor's being asked to the first token, at a watcher and at a plain reader. Both have long been there. */
async function firstTokens({ stage, holdfast, url, log }, rounds) {
  const said = { pieces: 5, chunkDelayMs: 5, firstByteDelayMs: 150 };
  const added = [];
  for (let n = -2; n < rounds; n++) {
    const direct = await readDirectly(url, said);
    const handle = await startAgent(stage.client, agentThat(url, said), "go", "live");
    const watched = await firstTokenOf(holdfast, handle.workflowId);
    if (n >= 0) added.push(watched - direct);
  }
  log(
    `first token: ${round(quantile(added, 0.5))} ms later at a watcher, p99 ${round(quantile(added, 0.99))}`,
  );
  return added;
}

async function readDirectly(url, said) {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "none" },
    body: JSON.stringify({
      model: "scripted",
      max_tokens: 1000,
      stream: true,
      system: JSON.stringify(said),
      messages: [{ role: "user", content: "go" }],
    }),
  });
  for await (const line of createInterface({ input: Readable.fromWeb(response.body) })) {
    if (!line.startsWith("data: ")) continue;
    const text = JSON.parse(line.slice(6)).delta?.text;
    if (text) return now() - Number(text);
  }
  throw new Error("The vendor has said nothing");
}

async function firstTokenOf(holdfast, session) {
  let after;
  for await (const { event } of holdfast.events(session)) {
    if (event.type === "MessageUpdate") after ??= now() - Number(event.delta.delta);
  }
  return after;
}

/** Tokens a second that each of so many watchers in one process is given; the answer does not end before they have all. */
async function throughput({ stage, holdfast, url, log }, count, pieces) {
  const gate = `watchers-${count}`;
  const said = { pieces, gate, firstByteDelayMs: 500 };
  const handle = await startAgent(stage.client, agentThat(url, said), "go", "live");
  let begun;
  const watch = async () => {
    let seen = 0;
    for await (const { event } of holdfast.events(handle.workflowId)) {
      if (event.type !== "MessageUpdate") continue;
      begun ??= performance.now();
      seen += 1;
      if (seen === pieces) return performance.now();
    }
    throw new Error(`A watcher has seen ${seen} of ${pieces} pieces`);
  };
  const ends = await Promise.all(Array.from({ length: count }, watch));
  const seconds = (Math.max(...ends) - begun) / 1000;
  await fetch(`${url}/__release`, { method: "POST", body: JSON.stringify({ name: gate }) });
  await handle.result();
  const tokensPerSecond = Math.round((pieces * TOKENS_A_PIECE) / seconds);
  log(`${count} watchers: ${tokensPerSecond} tokens a second each`);
  return { watchers: count, tokensPerSecond };
}

/** What the hub adds to a turn of 40 pieces, 5 ms apart: faster than vendors stream. */
async function costs({ stage, url, log }, rounds) {
  const agent = agentThat(url, { pieces: 40, chunkDelayMs: 5 });
  const spent = { live: [], null: [] };
  for (let n = -2; n < rounds; n++) {
    for (const queue of n % 2 === 0 ? ["live", "null"] : ["null", "live"]) {
      const from = performance.now();
      await (await startAgent(stage.client, agent, "go", queue)).result();
      if (n >= 0) spent[queue].push(performance.now() - from);
    }
  }
  const [live, none] = [quantile(spent.live, 0.5), quantile(spent.null, 0.5)];
  log(`a run of one turn: ${round(live)} ms with the hub, ${round(none)} ms without`);
  return { percent: (live / none - 1) * 100, ms: live - none };
}
