import { formatEffectCommand } from "./effects.mjs";

// What the agents of the campaign do. `steps`: the answers of the model, by the number of those that the conversation has
// already; a step is the calls that an answer makes, by label. `people`: what is sent while it works. `faults`: what the
// vendor says in place of an answer, each once.

const createBashCall = (label, seconds) => ({
  name: "bash",
  arguments: { command: formatEffectCommand(label, seconds) },
});
const createToolCall = (name) => (label) => ({ name: `effect_${name}`, arguments: { label } });
const [unsafe, idempotent, pure, quick] = ["unsafe", "idempotent", "pure", "quick"].map(createToolCall);

export const SCENARIOS = {
  plain: {
    steps: [[createBashCall], [quick], [unsafe], []],
    people: async ({ seen, send }) => {
      await seen(2);
      await send("followUp");
    },
  },
  parallel: {
    steps: [[createBashCall, idempotent, pure, unsafe], [quick, quick, idempotent], []],
  },
  "batched-with-steering": {
    agent: { toolStrategy: { type: "batched", size: 2 } },
    steps: [[idempotent, createBashCall, pure, unsafe, unsafe], [createBashCall, quick, pure], []],
    people: async ({ worked, send }) => {
      await worked(1);
      await send("steer");
      await worked(2);
      await send("steer");
    },
  },
  "approval-pending": {
    agent: { permissions: { rules: [{ tool: "effect_unsafe", outcome: "ask" }], otherwise: "allow" } },
    steps: [[idempotent], [unsafe], [unsafe, pure], []],
    people: async ({ seen, approve }) => {
      await seen(2);
      await approve();
      await seen(3);
      await approve();
    },
  },
  compaction: {
    agent: {
      context: {
        compaction: { strategy: "summary", keepFirstTurns: 1, keepRecentTurns: 1, maxSummaryTokens: 200 },
      },
    },
    steps: [[createBashCall], [pure], [unsafe], [idempotent], []],
    shortens: true,
    people: async ({ seen, signal }) => {
      await seen(4);
      await signal("compact", {});
    },
  },
  overflow: {
    agent: {
      context: { compaction: { keepFirstTurns: 1, keepRecentTurns: 1, maxSummaryTokens: 200 } },
    },
    steps: [[createBashCall], [pure], [unsafe], [quick], []],
    shortens: true,
    faults: { 4: [{ fault: "overflow" }] },
  },
  "rate-limited": {
    agent: { retry: { initialDelayMs: 100 } },
    steps: [[createBashCall], [unsafe], []],
    faults: {
      2: [
        { fault: "rate-limited", retryAfterMs: 200 },
        { fault: "rate-limited", retryAfterMs: 200 },
      ],
      3: [{ fault: "cut" }],
    },
  },
  "stop-in-flight": {
    steps: [[createBashCall], [(label) => createBashCall(label, 20), idempotent], []],
    ends: "stopped",
    people: async ({ worked, signal }) => {
      await worked(2);
      await signal("stop", "enough");
    },
  },
  "stop-in-a-stream": {
    steps: [[unsafe], "slow", []],
    ends: "stopped",
    people: async ({ seen, signal }) => {
      await seen(2);
      await signal("stop", "enough");
    },
  },
  "continue-as-new": {
    settings: { rotateAfterEvents: 24 },
    steps: [[createBashCall], [pure], [unsafe, quick], [idempotent], [createBashCall], []],
    people: async ({ seen, send }) => {
      for (const step of [2, 3, 4]) {
        await seen(step);
        await send("steer");
      }
    },
  },
  /** Not in the campaign: who asks a second time gets an answer that takes long. */
  asleep: {
    steps: ["slow-again"],
    isApart: true,
  },
  /** Another session begins behind the first turn of this one, while it goes on. */
  fork: {
    steps: [[createBashCall], [unsafe], [pure], []],
    people: async ({ seen, fork, send }) => {
      await seen(2);
      await fork(3);
      await send("steer");
    },
  },
  /** What begins so. */
  forked: {
    steps: [[], [idempotent], [createBashCall], []],
    isApart: true,
  },
  /** Taken out to a file, brought in as another session, and gone on with there, while others are at work. */
  import: {
    steps: [[createBashCall], [unsafe], []],
    isCarriedOver: true,
  },
  imported: {
    steps: [[], [], [], [createBashCall, pure], [unsafe], []],
    isApart: true,
  },
  rerun: {
    steps: [[createBashCall], [unsafe], []],
    again: true,
  },
};

/** Those that a campaign plays. */
export const CAMPAIGN_SCENARIOS = Object.keys(SCENARIOS).filter((name) => SCENARIOS[name].isApart !== true);

/** The session's name says what it plays. */
export const formatSessionName = (wave, scenario, nth) => `${wave}_${scenario}_${nth}`;
export const parseScenario = (session) => session.split("_")[1];

/** What the model says at a step: every answer says which one it is, and is like no other by its number. */
export function createReply(scenario, step, nonce, { suffix, isRepeated }) {
  const calls = SCENARIOS[scenario]?.steps[step - 1] ?? [];
  const words = "The work goes on as it should, and there is nothing to be said against it. ";
  const isScript = typeof calls === "string";
  const slow = calls === "slow" || (calls === "slow-again" && isRepeated);
  return {
    text: `[step ${step}] [answer ${nonce}] ${words.repeat(slow ? 45 : 2)}`,
    chunkSize: 16,
    chunkDelayMs: slow ? 40 : 15,
    ...(isScript || calls.length === 0
      ? {}
      : { toolCalls: calls.map((make, nth) => make(`${step}.${nth}${suffix}`)) }),
  };
}
