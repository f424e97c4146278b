import {
  type Arbitrary,
  array,
  boolean,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  option,
  record,
  subarray,
  tuple,
} from "fast-check";
import { listPendingApprovals } from "../../src/core/machine/approvals.ts";
import type { HookResult } from "../../src/core/machine/state/digest.ts";
import type { QueueMode } from "../../src/schema/definition.ts";
import { HOOK_POINTS } from "../../src/schema/hooks.ts";
import type { Outcome } from "../../src/schema/record.ts";
import { play, type Reached, type Run } from "./support/run.ts";
import { calls, type Judge, type Reply, type Setting, says, usageOf } from "./support/script.ts";

// Random scripts: how the world answers and what people do, in any order that is legal.

export type Action =
  | { readonly type: "step" }
  | { readonly type: "tool"; readonly pick: number; readonly isError: boolean }
  | { readonly type: "lose"; readonly pick: number; readonly reached: Reached; readonly attempts: number }
  | { readonly type: "not-local"; readonly pick: number; readonly reached: Reached }
  | { readonly type: "cancelled" | "failed"; readonly pick: number; readonly reached: Reached }
  | { readonly type: "steer" | "follow-up" | "prompt" | "rotation" | "stop" | "intrude" }
  | { readonly type: "gone"; readonly pick: number; readonly shown: boolean }
  | { readonly type: "again"; readonly pick: number; readonly steering: boolean }
  | { readonly type: "mode"; readonly queue: "steering" | "follow-up"; readonly mode: QueueMode }
  | { readonly type: "clear"; readonly queue: "steering" | "follow-up" | "all" }
  | { readonly type: "answer"; readonly pick: number; readonly yes: boolean; readonly always: boolean }
  | { readonly type: "asks"; readonly pick: number }
  | { readonly type: "compact" }
  | { readonly type: "update"; readonly pick: number }
  | { readonly type: "time"; readonly ms: number };

const pick = nat(7);
const reached = constantFrom<Reached>("nothing", "claimed", "stored");
const mode = constantFrom<QueueMode>("one-at-a-time", "all");

const step = constant<Action>({ type: "step" });
const tool: Arbitrary<Action> = record({ type: constant("tool" as const), pick, isError: boolean() });
/** What a tool answers must not hang on when it is asked, where a script is played twice. */
const works: Arbitrary<Action> = record({ type: constant("tool" as const), pick, isError: constant(false) });
const lose: Arbitrary<Action> = record({ type: constant("lose" as const), pick, reached, attempts: nat(3) });
const elsewhere: Arbitrary<Action> = record({ type: constant("not-local" as const), pick, reached });
const broken: Arbitrary<Action> = record({
  type: constantFrom("cancelled" as const, "failed" as const),
  pick,
  reached,
});
/** A sub-agent is terminated. */
const gone: Arbitrary<Action> = record({ type: constant("gone" as const), pick, shown: boolean() });
const words = constantFrom<Action>({ type: "steer" }, { type: "follow-up" }, { type: "prompt" });
const again: Arbitrary<Action> = record({ type: constant("again" as const), pick, steering: boolean() });
const setting: Arbitrary<Action> = oneof(
  record({
    type: constant("mode" as const),
    queue: constantFrom("steering" as const, "follow-up" as const),
    mode,
  }),
  record({
    type: constant("clear" as const),
    queue: constantFrom("steering" as const, "follow-up" as const, "all" as const),
  }),
);
const rotation = constant<Action>({ type: "rotation" });
const stop = constant<Action>({ type: "stop" });
const intrude = constant<Action>({ type: "intrude" });
const answer: Arbitrary<Action> = record({
  type: constant("answer" as const),
  pick,
  yes: boolean(),
  always: boolean(),
});
const asks: Arbitrary<Action> = record({ type: constant("asks" as const), pick });
const compact = constant<Action>({ type: "compact" });
const update: Arbitrary<Action> = record({ type: constant("update" as const), pick });
const time: Arbitrary<Action> = record({ type: constant("time" as const), ms: nat(2000) });

/** Everything that can happen. */
export const anyActions = array(
  oneof(
    { arbitrary: step, weight: 10 },
    { arbitrary: tool, weight: 6 },
    { arbitrary: words, weight: 6 },
    { arbitrary: lose, weight: 3 },
    { arbitrary: elsewhere, weight: 1 },
    { arbitrary: broken, weight: 1 },
    { arbitrary: gone, weight: 2 },
    { arbitrary: again, weight: 1 },
    { arbitrary: setting, weight: 1 },
    { arbitrary: answer, weight: 4 },
    { arbitrary: asks, weight: 2 },
    { arbitrary: compact, weight: 1 },
    { arbitrary: update, weight: 2 },
    { arbitrary: rotation, weight: 1 },
    { arbitrary: stop, weight: 1 },
    { arbitrary: intrude, weight: 1 },
    { arbitrary: time, weight: 1 },
  ),
  { maxLength: 60 },
);

/** What people and the world do, without crashes: those are put in by the test. */
export const calmActions = array(
  oneof(
    { arbitrary: step, weight: 8 },
    { arbitrary: works, weight: 6 },
    { arbitrary: words, weight: 6 },
    { arbitrary: answer, weight: 3 },
    { arbitrary: compact, weight: 1 },
    { arbitrary: update, weight: 1 },
    { arbitrary: setting, weight: 1 },
    { arbitrary: rotation, weight: 1 },
  ),
  { maxLength: 50 },
);

/** A worker dies before the action at this place, or a local step goes elsewhere. */
export type Crash = {
  readonly at: number;
  readonly pick: number;
  readonly reached: Reached;
  readonly elsewhere: boolean;
};

export const crashes: Arbitrary<Crash[]> = array(
  record({ at: nat(50), pick, reached, elsewhere: boolean() }),
  {
    maxLength: 12,
  },
);

const name = constantFrom(
  "bash",
  "edit",
  "read",
  "bash",
  "edit",
  "read",
  "scout",
  "scout",
  "unknown",
  "toString",
);
const call = record({ name, invalid: option(constant(true as const), { freq: 6, nil: undefined }) }).map(
  ({ name, invalid }) => (invalid === undefined ? { name } : { name, invalid }),
);
/** Tasks for one sub-agent or several, beside other work perhaps. */
const delegations: Arbitrary<Reply> = record({
  tasks: integer({ min: 1, max: 4 }),
  beside: boolean(),
  tokens: nat(100),
}).map(({ tasks, beside, tokens }) => ({
  ...calls(...Array.from({ length: tasks }, () => "scout"), ...(beside ? ["read", "bash"] : [])),
  usage: usageOf(tokens, 1),
  costUsd: tokens / 128,
}));
/** Answers that claim to be the structured output, as a text or as calls of the final tool; and such calls beside others. */
const outputs: Arbitrary<Reply> = record({
  final: nat(2),
  beside: boolean(),
  ok: boolean(),
  stopReason: constantFrom("stop" as const, "stop" as const, "length" as const, "guardRail" as const),
}).map(({ final, beside, ok, stopReason }): Reply => {
  const output = ok ? { count: 1 } : {};
  const finals = Array.from({ length: final }, () => ({ name: "final_answer", arguments: output }));
  if (final === 0) return says(JSON.stringify(output), { stopReason });
  return beside ? calls("bash", ...finals, "read") : calls(...finals);
});
const reply: Arbitrary<Reply> = oneof(
  {
    arbitrary: record({
      names: array(call, { minLength: 1, maxLength: 5 }),
      stopReason: constantFrom("toolUse", "toolUse", "toolUse", "toolUse", "length", "guardRail"),
      tokens: nat(100),
    }).map(
      ({ names, stopReason, tokens }): Reply => ({
        ...calls(...names),
        stopReason: stopReason as "toolUse",
        usage: usageOf(tokens, 1),
        costUsd: tokens / 128,
      }),
    ),
    weight: 3,
  },
  {
    arbitrary: nat(100).map((tokens) => says("words", { usage: usageOf(tokens, 1), costUsd: tokens / 128 })),
    weight: 2,
  },
  { arbitrary: outputs, weight: 1 },
  { arbitrary: delegations, weight: 2 },
);

/** Hashes: that of the definition at first, two others, and one that no run may be moved to. */
const DEFINITIONS = ["hash", "other", "fewer", "wrong"];

const definitions: NonNullable<Setting["definitions"]> = {
  other: { toolStrategy: { type: "sequential" }, model: { id: "model-2" } },
  fewer: {
    tools: ["bash"],
    hooks: { "before-turn": ["guard"], "after-turn": ["guard"] },
  },
  wrong: { inputFilters: ["none"] },
};
/** The most that a sub-agent takes beyond its share: the step that it is in. */
const LAST_STEP = { tokens: 50, nanoUsd: 5_000_000 };

/** What sub-agents come to, by the calls that started them and what was set aside for them. */
function fates(seed: number): NonNullable<Setting["reports"]> {
  return ({ toolCallId, child }) => {
    const mood = seed + 3 * numberIn(toolCallId);
    if (mood % 7 === 0) return "gone";
    if (mood % 11 === 0) return "unseen";
    const { turns, tokens, nanoUsd, children } = child?.allocation ?? NO_SHARE;
    const most = (part: number | null, usual: number) => Math.min(part ?? usual, usual);
    const isGreedy = mood % 3 === 0;
    const part = (whole: number) => (isGreedy ? whole : Math.floor((whole * (mood % 5)) / 4));
    const beyond = isGreedy ? LAST_STEP : { tokens: 0, nanoUsd: 0 };
    const used = {
      turns: part(most(turns, 4)),
      tokens: part(most(tokens, 200)) + beyond.tokens,
      nanoUsd: part(most(nanoUsd, 500_000_000)) + beyond.nanoUsd,
      children: part(most(children, 3)),
    };
    return { used, outcome: OUTCOMES[mood % OUTCOMES.length] as Outcome };
  };
}

const NO_SHARE = { turns: 0, tokens: 0, nanoUsd: 0, children: 0 };
const OUTCOMES: readonly Outcome[] = [
  { type: "answered", stopReason: "stop" },
  { type: "answered", stopReason: "stop" },
  { type: "limit-reached", reason: "Max turns reached (1/1)" },
  { type: "failed", fault: "auth", message: "no key" },
  { type: "stopped", reason: "enough" },
];

/** What hooks answer, by what they are asked alone: a crash makes them be asked again. */
function moody(seed: number): NonNullable<Setting["words"]> {
  return ({ question, turn }) => {
    const wordOf = (subject: number): HookResult => {
      const mood = (seed + 7 * turn + 3 * subject + question.point.length) % 11;
      if (mood === 0) return { type: "no", hook: "guard", reason: "no" };
      if (question.point === "before-turn" && mood === 1)
        return { type: "end", hook: "guard", text: "enough" };
      if (question.point === "before-turn" && mood < 5) return { type: "yes", notices: ["a notice"] };
      const goesOn = question.point === "on-text" && mood < 6 && turn < 4;
      return goesOn ? { type: "continue", hook: "guard" } : { type: "yes" };
    };
    return "calls" in question ? question.calls.map(({ call }) => wordOf(call)) : [wordOf(0)];
  };
}

const easygoing: Judge = (text) => (numberIn(text) % 3 === 0 ? { warn: "hm" } : undefined);
const picky: Judge = (text) => (numberIn(text) % 5 === 4 ? { reject: "no" } : easygoing(text));

function numberIn(id: string): number {
  return Number(id.replace(/\D/g, ""));
}

const anySettings: Arbitrary<Setting> = record({
  definitions: constant(definitions),
  hooks: option(subarray([...HOOK_POINTS]), { nil: undefined }),
  words: nat(10).map(moody),
  reports: nat(10).map(fates),
  delegation: option(
    record({
      maxDepth: integer({ min: 1, max: 4 }),
      maxChildren: option(integer({ min: 1, max: 8 }), { nil: null }),
    }),
    { nil: undefined },
  ),
  replies: array(reply, { maxLength: 12 }),
  mode: constantFrom("run" as const, "interactive" as const),
  idleTimeoutMs: constantFrom(null, 1000),
  strategy: oneof(
    constant({ type: "sequential" as const }),
    constant({ type: "parallel" as const }),
    record({ type: constant("batched" as const), size: integer({ min: 1, max: 3 }) }),
  ),
  limits: record({
    maxTurns: option(integer({ min: 1, max: 6 }), { nil: null }),
    maxTotalTokens: option(integer({ min: 1, max: 400 }), { freq: 2, nil: null }),
    maxCostUsd: option(integer({ min: 1, max: 4 }), { freq: 2, nil: null }),
    maxDurationMs: option(integer({ min: 1, max: 4000 }), { freq: 2, nil: null }),
  }),
  steeringMode: mode,
  followUpMode: mode,
  localSteps: boolean(),
  permissions: constantFrom<NonNullable<Setting["permissions"]>>(
    {},
    {},
    { otherwise: "ask" },
    {
      rules: [
        { tool: "bash", outcome: "ask" },
        { tool: "edit", outcome: "deny" },
      ],
    },
  ),
  output: constantFrom<Setting["output"]>(undefined, undefined, undefined, undefined, "text", "call"),
  compactAbove: option(integer({ min: 20, max: 300 }), { freq: 2, nil: undefined }),
  judges: constantFrom<Judge | undefined>(undefined, undefined, easygoing, picky),
  prompts: constantFrom(["hi"], ["hi", "there"], []),
  held: boolean(),
});

/** Half of them begin with tasks for sub-agents, and have something to share out. */
export const settings: Arbitrary<Setting> = tuple(anySettings, option(delegations, { freq: 2 })).map(
  ([setting, first]) =>
    first === null
      ? setting
      : {
          ...setting,
          prompts: ["hi"],
          limits: roomy(setting.limits),
          replies: [first, ...(setting.replies ?? []).slice(0, 3)],
        },
);

function roomy({ maxTurns, maxTotalTokens, maxCostUsd }: NonNullable<Setting["limits"]> = {}) {
  const more = (limit: number | null | undefined, by: number) => (limit == null ? null : limit + by);
  return {
    maxTurns: more(maxTurns, 4),
    maxTotalTokens: more(maxTotalTokens, 800),
    maxCostUsd: more(maxCostUsd, 4),
    maxDurationMs: null,
  };
}

/** Does one thing, where it is legal; says whether it was. */
export async function act(run: Run, action: Action): Promise<boolean> {
  if (
    run.phase === "starting" &&
    action.type !== "steer" &&
    action.type !== "follow-up" &&
    action.type !== "stop"
  ) {
    run.tell({ type: "started" });
    return true;
  }
  const { command } = run;
  const idle = command.type === "wait" || command.type === "finish";
  switch (action.type) {
    case "step":
      if (!idle) await run.step();
      return !idle;
    case "tool": {
      const call = run.running[action.pick % Math.max(1, run.running.length)];
      if (call === undefined) return await act(run, { type: "step" });
      // A sub-agent begins at one time, and ends at another.
      const { child } = run.call(call);
      if (child !== undefined && child.session === undefined) run.beginChild(call);
      else await run.tool(call, action.isError);
      return true;
    }
    case "asks": {
      const able = run.running.filter((call) => run.call(call).child === undefined);
      const call = able[action.pick % Math.max(1, able.length)];
      if (call === undefined) return false;
      run.asks(call);
      return true;
    }
    case "lose":
      return await setBack(run, action.pick, { type: "lost", attempts: action.attempts }, action.reached);
    case "not-local":
      return await setBack(run, action.pick, { type: "not-local" }, action.reached);
    case "cancelled":
      if (run.state.stop === undefined && command.type !== "call-model") return false;
      return await setBack(run, action.pick, { type: "cancelled" }, action.reached);
    case "failed": {
      // Steps that only write are tried until they are done.
      if (command.type !== "call-model" && command.type !== "call-tools") return false;
      const failure = { fault: "other", message: "it failed" };
      const isLong = command.type === "call-model" && action.pick % 2 === 1;
      return await setBack(
        run,
        action.pick,
        { type: "failed", failure, ...(isLong ? { wait: { forMs: 1000, attempts: 1 } } : {}) },
        action.reached === "stored" ? "claimed" : action.reached,
      );
    }
    case "gone": {
      const children = command.type === "call-tools" ? command.calls.filter(({ child }) => child) : [];
      const child = children[action.pick % Math.max(1, children.length)];
      if (child === undefined) return false;
      run.childGone(child.call, action.shown);
      return true;
    }
    case "steer":
      run.steer(`steering words ${run.seen.accepted.length}`);
      return true;
    case "follow-up":
      run.followUp(`follow-up words ${run.seen.accepted.length}`);
      return true;
    case "prompt":
      if (run.phase !== "waiting") return false;
      run.prompt(`prompt words ${run.seen.accepted.length}`);
      return true;
    case "again": {
      const known = run.seen.accepted[action.pick % Math.max(1, run.seen.accepted.length)];
      if (known === undefined) return false;
      if (action.steering) run.steer("sent again", known.id);
      else run.followUp("sent again", known.id);
      return true;
    }
    case "mode":
      run.setMode(action.queue, action.mode);
      return true;
    case "clear":
      run.clear(action.queue);
      return true;
    case "rotation":
      run.rotationDue();
      return true;
    case "stop":
      run.stop();
      return true;
    case "intrude":
      if (run.state.loop === undefined || idle) return false;
      run.transcript.intrude(run.state.branch);
      return true;
    case "answer": {
      const asked = listPendingApprovals(run.state);
      const call = asked[action.pick % Math.max(1, asked.length)];
      if (call === undefined) return false;
      run.answer(call.toolCallId, action.yes, action.always);
      return true;
    }
    case "compact":
      run.compact();
      return true;
    case "update":
      run.update(DEFINITIONS[action.pick % DEFINITIONS.length] ?? "");
      return true;
    case "time":
      run.pass(action.ms).timePassed();
      return true;
  }
}

async function setBack(
  run: Run,
  pick: number,
  setback: Parameters<Run["setBack"]>[0],
  reached: Reached,
): Promise<boolean> {
  const { command } = run;
  if (command.type === "wait" || command.type === "finish" || command.type === "rotate") return false;
  await run.setBack(setback, reached, run.running[pick % Math.max(1, run.running.length)]);
  return true;
}

/** Plays a script to its end: what waits for ever is stopped. */
export async function playAll(setting: Setting, actions: readonly Action[]): Promise<Run> {
  const run = play(setting);
  for (const action of actions) await act(run, action);
  return await finish(run);
}

export async function finish(run: Run): Promise<Run> {
  if (run.phase === "starting") run.tell({ type: "started" });
  await run.settle();
  if (run.command.type === "wait") await run.stop().settle();
  return run;
}
