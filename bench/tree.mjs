import proto from "@temporalio/proto";
import { AgentDefinition } from "../dist/schema/index.js";
import { SqliteTranscript } from "../dist/store/transcript/sqlite/sqlite-transcript.js";
import { createNullAgent, startAgent, startEvaluation, startPlainTree } from "./agents.mjs";
import { computeQuantile, openEnvironment, round } from "./environment.mjs";

const { temporal } = proto;

const CONCURRENCIES = [1, 10, 50];
/** The answer time of each concurrent sub-agent. */
const ANSWER_MS = 500;

/** Measures a sub-agent call against a plain child workflow with the same activities, and many concurrent calls. */
export async function measure({ log, quick }) {
  const calls = quick ? 4 : 10;
  const rounds = quick ? 2 : 9;
  const stage = await openEnvironment();
  try {
    await stage.start("./agent-worker.mjs");
    await stage.start("./agent-worker.mjs", [
      "--task-queue",
      "plain",
      "--workflows",
      "./plain-tree-workflow.mjs",
    ]);
    const { client } = stage;
    const transcript = await SqliteTranscript.open({ path: `${stage.home}/transcript.db` });
    const oneByOne = createCaller({ turns: calls + 1, calls: 1 });
    // A Holdfast run first stores the definitions that the plain one uses.
    await (await startAgent(client, oneByOne)).result();
    const [session] = await transcript.findSessions({ limit: 1, agentName: "bench" });
    const [child] = await transcript.findSessions({ limit: 1, agentName: "scout" });
    const hashes = { definitionHash: session.definitionHash, childHash: child.definitionHash };
    const branch = { ...createNullAgent({ turns: 1, tool: "", answerMs: ANSWER_MS }), tools: [] };
    const definitionHash = await transcript.saveDefinition(AgentDefinition.parse(branch));
    await transcript.close();
    const kinds = {
      plain: () => startPlainTree(client, { ...hashes, calls }),
      ours: () => startAgent(client, oneByOne),
    };
    const spent = { plain: [], ours: [] };
    for (let n = -1; n < rounds; n++) {
      for (const [kind, start] of Object.entries(kinds)) {
        const from = performance.now();
        await (await start()).result();
        if (n >= 0) spent[kind].push((performance.now() - from) / calls);
      }
      if (n >= 0)
        log(
          `round ${n + 1}: plain ${spent.plain.at(-1).toFixed(1)}, ours ${spent.ours.at(-1).toFixed(1)} ms a call`,
        );
    }
    const children = {};
    const branches = {};
    for (const count of CONCURRENCIES) {
      const calling = () => startAgent(client, createCaller({ turns: 2, calls: count, answerMs: ANSWER_MS }));
      const agents = Array.from({ length: count }, () => ({ definitionHash }));
      const comparing = () => startEvaluation(client, agents);
      children[count] = await measureConcurrent(`${count} sub-agents`, calling, quick ? 1 : 3, log);
      branches[count] = await measureConcurrent(`${count} branches`, comparing, quick ? 1 : 3, log);
    }
    const [fewest, most] = [CONCURRENCIES[0], CONCURRENCIES.at(-1)];
    const grown = children[most].parentBytes - children[fewest].parentBytes;
    return {
      msPerCall: round(computeQuantile(spent.ours, 0.5)),
      plainMsPerCall: round(computeQuantile(spent.plain, 0.5)),
      ratio: round(
        computeQuantile(
          spent.ours.map((ms, n) => ms / spent.plain[n]),
          0.5,
        ),
        3,
      ),
      parentBytesPerChild: Math.round(grown / (most - fewest)),
      branches,
      children,
    };
  } finally {
    await stage.strike();
  }
}

/** Creates an agent that delegates `calls` tasks with each answer except the last. */
function createCaller({ turns, calls, answerMs = 0 }) {
  const { tools: _, ...definition } = createNullAgent({
    turns,
    tool: "scout",
    calls,
    task: "Explore the folder",
  });
  const { limits, ...scout } = createNullAgent({ turns: 1, tool: "", answerMs });
  return {
    ...definition,
    tools: [],
    subAgents: [
      { name: "scout", description: "Explores the folder", limits, agent: { ...scout, tools: [] } },
    ],
    delegation: { maxDepth: 1, maxChildren: null },
  };
}

/** Measures the total time, and the history of the parent that waits for all sub-agents. */
async function measureConcurrent(what, start, rounds, log) {
  const times = [];
  let parentBytes = 0;
  for (let n = -1; n < rounds; n++) {
    const from = performance.now();
    const handle = await start();
    await handle.result();
    if (n >= 0) times.push(performance.now() - from);
    const { events } = await handle.fetchHistory();
    parentBytes = events.reduce((sum, event) => sum + countBytes(event), 0);
  }
  const shown = times.map((ms) => Math.round(ms)).join(", ");
  log(`${what} side by side: ${shown} ms, ${parentBytes} bytes of the parent's history`);
  return { ms: Math.round(computeQuantile(times, 0.5)), parentBytes };
}

function countBytes(event) {
  return temporal.api.history.v1.HistoryEvent.encode(event).finish().length;
}
