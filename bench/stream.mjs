import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { connect } from "../dist/client/index.js";
import { startAgent } from "./agents.mjs";
import { computeQuantile, openEnvironment, round } from "./environment.mjs";

/** The number of tokens in a vendor's chunk, which is its number of words. */
const TOKENS_PER_CHUNK = 4;
const WATCHERS = [1, 10, 100];
const now = () => performance.timeOrigin + performance.now();

/** Measures with vendor, worker and watchers in separate processes; the compared variants alternate. */
export async function measure({ log, quick }) {
  const stage = await openEnvironment();
  const vendor = await stage.start("./stream-vendor.mjs");
  await stage.start("./stream-worker.mjs", ["--task-queue", "live"]);
  await stage.start("./stream-worker.mjs", ["--task-queue", "null", "--null-hub"]);
  const { address, namespace } = stage.server;
  const holdfast = await connect({ address, namespace, home: stage.home, taskQueue: "live" });
  const setup = { stage, holdfast, url: vendor.ready.url, log };
  try {
    const added = await measureFirstTokens(setup, quick ? 8 : 120);
    const watchers = [];
    for (const count of WATCHERS) watchers.push(await measureThroughput(setup, count, quick ? 200 : 2_000));
    const { percent, ms } = await measureHubCost(setup, quick ? 4 : 40);
    return {
      ttftAddedP50Ms: round(computeQuantile(added, 0.5)),
      ttftAddedP99Ms: round(computeQuantile(added, 0.99)),
      watchers,
      runCostPercent: round(percent),
      runCostMsPerTurn: round(ms),
    };
  } finally {
    await holdfast.close();
    await stage.strike();
  }
}

function createAgent(url, reply) {
  return {
    name: "stream",
    systemPrompt: JSON.stringify({ chunkDelayMs: 0, firstByteDelayMs: 0, ...reply }),
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

/** Measures the time from the request to the first token, at a watcher and at a plain reader, which both started before. */
async function measureFirstTokens({ stage, holdfast, url, log }, rounds) {
  const reply = { pieces: 5, chunkDelayMs: 5, firstByteDelayMs: 150 };
  const added = [];
  for (let n = -2; n < rounds; n++) {
    const direct = await measureDirectRead(url, reply);
    const handle = await startAgent(stage.client, createAgent(url, reply), "go", "live");
    const watched = await waitForFirstToken(holdfast, handle.workflowId);
    if (n >= 0) added.push(watched - direct);
  }
  log(
    `first token: ${round(computeQuantile(added, 0.5))} ms later at a watcher, p99 ${round(computeQuantile(added, 0.99))}`,
  );
  return added;
}

async function measureDirectRead(url, reply) {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "none" },
    body: JSON.stringify({
      model: "scripted",
      max_tokens: 1000,
      stream: true,
      system: JSON.stringify(reply),
      messages: [{ role: "user", content: "go" }],
    }),
  });
  for await (const line of createInterface({ input: Readable.fromWeb(response.body) })) {
    if (!line.startsWith("data: ")) continue;
    const text = JSON.parse(line.slice(6)).delta?.text;
    if (text) return now() - Number(text);
  }
  throw new Error("The vendor sent no text");
}

async function waitForFirstToken(holdfast, session) {
  let after;
  for await (const { event } of holdfast.session(session).events()) {
    if (event.type === "MessageUpdate") after ??= now() - Number(event.delta.delta);
  }
  return after;
}

/** Measures the tokens a second that each of `count` watchers in one process receives; the answer waits for all of them. */
async function measureThroughput({ stage, holdfast, url, log }, count, pieces) {
  const gate = `watchers-${count}`;
  const reply = { pieces, gate, firstByteDelayMs: 500 };
  const handle = await startAgent(stage.client, createAgent(url, reply), "go", "live");
  let begun;
  const watch = async () => {
    let tokenCount = 0;
    for await (const { event } of holdfast.session(handle.workflowId).events()) {
      if (event.type !== "MessageUpdate") continue;
      begun ??= performance.now();
      tokenCount += 1;
      if (tokenCount === pieces) return performance.now();
    }
    throw new Error(`A watcher received ${tokenCount} of ${pieces} chunks`);
  };
  const ends = await Promise.all(Array.from({ length: count }, watch));
  const seconds = (Math.max(...ends) - begun) / 1000;
  await fetch(`${url}/__release`, { method: "POST", body: JSON.stringify({ name: gate }) });
  await handle.result();
  const tokensPerSecond = Math.round((pieces * TOKENS_PER_CHUNK) / seconds);
  log(`${count} watchers: ${tokensPerSecond} tokens a second each`);
  return { watchers: count, tokensPerSecond };
}

/** Measures what the hub adds to a turn of 40 chunks at 5 ms intervals, which is faster than vendors stream. */
async function measureHubCost({ stage, url, log }, rounds) {
  const agent = createAgent(url, { pieces: 40, chunkDelayMs: 5 });
  const spent = { live: [], null: [] };
  for (let n = -2; n < rounds; n++) {
    for (const queue of n % 2 === 0 ? ["live", "null"] : ["null", "live"]) {
      const from = performance.now();
      await (await startAgent(stage.client, agent, "go", queue)).result();
      if (n >= 0) spent[queue].push(performance.now() - from);
    }
  }
  const [live, none] = [computeQuantile(spent.live, 0.5), computeQuantile(spent.null, 0.5)];
  log(`a run of one turn: ${round(live)} ms with the hub, ${round(none)} ms without`);
  return { percent: (live / none - 1) * 100, ms: live - none };
}
