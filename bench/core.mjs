// Measures the machine alone, without server, store and text. One tool call a turn, and a compaction when the context grows.
import { apply } from "../dist/core/machine/apply.js";
import { next } from "../dist/core/machine/next.js";
import { buildInitialState } from "../dist/core/machine/start.js";
import { reachKillPoint } from "../dist/platform/kill-point.js";
import { computeQuantile, round } from "./environment.mjs";

const USAGE = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const ANSWER_TOKENS = 300;
const RESULT_TOKENS = 900;
const COMPACTION_TOKENS = 81_000;
/** The number of newest turns that a compaction does not change. */
const KEPT_TURNS = 10;

export async function measure({ log, quick }) {
  const turns = quick ? 200 : 1000;
  const rounds = quick ? 2 : 7;
  play({ turns, compactAbove: COMPACTION_TOKENS });
  const speeds = [];
  for (let n = 1; n <= rounds; n++) {
    const from = performance.now();
    const { steps } = play({ turns, compactAbove: COMPACTION_TOKENS });
    speeds.push((steps / (performance.now() - from)) * 1000);
    log(`round ${n}: ${speeds.at(-1).toFixed(0)} steps a second`);
  }
  const whole = play({ turns, compactAbove: COMPACTION_TOKENS });
  const never = play({ turns });
  const given = whole.compactions.map(({ before, after }) => before - after);
  return {
    stepsPerSecond: Math.round(computeQuantile(speeds, 0.5)),
    stateBytes1000: whole.bytes.at(-1),
    stateBytesPerTurn: round(computeGrowth(whole.bytes), 2),
    stateBytesWithoutCompaction: never.bytes.at(-1),
    largestStateBytes: Math.max(...whole.bytes),
    compactions: whole.compactions.length,
    killPointNs: round(measureKillPoint(quick ? 1e6 : 1e8), 2),
    bytesGivenBack: given.length === 0 ? 0 : Math.round(computeQuantile(given, 0.5)),
  };
}

/** Measures the nanoseconds of a kill point that no campaign has armed. */
function measureKillPoint(times) {
  const from = performance.now();
  for (let n = 0; n < times; n++) reachKillPoint("claim:before");
  return ((performance.now() - from) * 1e6) / times;
}

/** Measures the bytes a turn from the fiftieth turn on: before that, the view's newest turns are incomplete. */
function computeGrowth(bytes) {
  const from = Math.min(50, bytes.length - 2);
  return (bytes.at(-1) - bytes[from]) / (bytes.length - 1 - from);
}

function play({ turns, compactAbove }) {
  let now = 0;
  let steps = 0;
  let answers = 0;
  const bytes = [];
  const compactions = [];
  let state = buildInitialState({
    session: "bench",
    mode: "run",
    idleTimeoutMs: null,
    localSteps: true,
    requestedDefinition: { hash: "hash" },
    prompts: [{ id: "p1", text: "Go", atMs: 0 }],
    nowMs: 0,
  });
  const applyEvent = (event) => {
    state = apply(state, { ...event, atMs: ++now });
    steps += 1;
  };
  applyEvent({ type: "started" });
  for (;;) {
    const command = next(state);
    switch (command.type) {
      case "open-loop":
        applyEvent({ type: "loop-opened", digest: createOpenedEvent(compactAbove) });
        break;
      case "call-model": {
        answers += 1;
        bytes.push(Buffer.byteLength(JSON.stringify(state)));
        applyEvent({ type: "model-replied", digest: createReply(command, answers, answers >= turns) });
        break;
      }
      case "call-tools":
        applyEvent({ type: "tool-finished", call: 0, digest: createResult(command.calls[0]) });
        break;
      case "compact": {
        const before = Buffer.byteLength(JSON.stringify(state));
        applyEvent({ type: "compacted", digest: compactSpans(command, state.view.spans) });
        compactions.push({ before, after: Buffer.byteLength(JSON.stringify(state)) });
        break;
      }
      case "close-loop":
        applyEvent({ type: "loop-closed", digest: { branch: "main", text: "done", position: 0 } });
        break;
      case "finish":
        return { steps, bytes, compactions };
      default:
        throw new Error(`The benchmark does not implement ${command.type}`);
    }
  }
}

function createOpenedEvent(compactAbove) {
  return {
    loopId: "bench.1",
    kind: { type: "initial" },
    branch: "main",
    from: 0,
    tokensBefore: 0,
    entries: [{ origin: "prompt", messageId: "p1", tokens: 5 }],
    definitionHash: "hash",
    agentName: "bench",
    model: "null",
    limits: { maxTurns: null, maxTotalTokens: null, maxDurationMs: null, maxCostUsd: null },
    toolStrategy: { type: "parallel" },
    steeringMode: "one-at-a-time",
    followUpMode: "one-at-a-time",
    maxRetries: 3,
    tools: { bash: { replay: "unsafe", quick: false } },
    permissions: { rules: [{ tool: "bash", command: "npm test", outcome: "allow" }], otherwise: "allow" },
    approvals: { timeoutMs: null },
    ...(compactAbove === undefined ? {} : { context: { compactAbove } }),
    warnings: [],
  };
}

function createReply({ branch }, nth, last) {
  const facts = { commands: [{ words: ["npm", "test"] }] };
  const call = { id: `toolu_${nth}`, name: "bash", summary: "npm test", facts };
  return {
    branch,
    stopReason: last ? "stop" : "toolUse",
    usage: USAGE,
    costUsd: 0,
    tokens: ANSWER_TOKENS,
    calls: last ? [] : [call],
    preview: "I run the tests once more.",
    attempts: 1,
  };
}

function createResult({ branch }) {
  return { branch, isError: false, tokens: RESULT_TOKENS, preview: "ok" };
}

/** Compacts as the default strategy does: one text replaces all turns except the newest. */
function compactSpans({ branch, position, contextTokens }, spans) {
  const old = spans.slice(0, -KEPT_TURNS);
  const retained = spans.slice(-KEPT_TURNS);
  const span = {
    from: old[0].from,
    to: old.at(-1).to,
    turns: old.reduce((sum, one) => sum + one.turns, 0),
    tokens: 2000,
    replacement: { position, section: 0 },
  };
  const tokensAfter = 2000 + retained.reduce((sum, one) => sum + one.tokens, 0);
  return {
    branch,
    spans: [span, ...retained],
    messagesBefore: 0,
    messagesAfter: 0,
    tokensBefore: contextTokens,
    tokensAfter,
    loopsCompacted: 1,
  };
}
