import { type Arbitrary, assert, asyncProperty, sample, tuple } from "fast-check";
import { describe, expect, test } from "vitest";
import type { Amounts } from "../../src/core/budget/account-state.ts";
import { addAmounts, NO_AMOUNTS, toUsd } from "../../src/core/budget/amounts.ts";
import type { EventBody } from "../../src/schema/loop-event.ts";
import type { Usage } from "../../src/schema/message.ts";
import { alike, must } from "../support/must.ts";
import { getRunCount, thoroughTest } from "../support/test-depth.ts";
import { act, anyActions, type Crash, calmActions, crashes, finish, playAll, settings } from "./actions.ts";
import { play, type Run } from "./support/run.ts";
import { NO_LIMITS, TOOLS } from "./support/script.ts";

// For any answers and any user actions, `Run` checks I1 to I6 after every event, and at the end that nothing
// was lost, duplicated or left open.

const RUNS = getRunCount(2000);
const PATIENCE_MS = 120_000 + RUNS * 100;

/** These tools can run twice: otherwise their outcome would be unknown after the death of a worker. */
const REPEATABLE = { ...TOOLS, bash: { replay: "idempotent" as const, quick: false, timeoutMs: 60_000 } };

/** Yields to the event loop now and then, so that the test runner does not consider the process dead. */
async function always<Values extends [unknown, ...unknown[]]>(
  check: (...values: Values) => Promise<void>,
  ...arbitraries: { [Index in keyof Values]: Arbitrary<Values[Index]> }
): Promise<void> {
  let runs = 0;
  const checked = async (...values: Values): Promise<void> => {
    if (++runs % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    await check(...values);
  };
  await assert(asyncProperty<Values>(...arbitraries, checked), { numRuns: RUNS });
}

/** Compares as JSON: equal texts pass at once, and others can differ only in the order of their fields. */
function expectAlike(found: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) alike(JSON.parse(one), JSON.parse(other));
}

/** Each step from a state that was read back gives the same state and command as the step from the state itself. */
function expectSameTrace(copied: Run, run: Run): void {
  const { trace } = run.seen;
  must(copied.seen.trace.length === trace.length, "both runs take the same number of steps");
  copied.seen.trace.forEach((text, index) => {
    if (text !== trace[index]) alike(JSON.parse(text), JSON.parse(trace[index] ?? ""));
  });
}

describe("any script", () => {
  test(
    "keeps every invariant, ends, has a complete record, exceeds no limit by more than a turn, and runs the same with a state that is serialized and read back after every event [I1..I6, TOOL-08.1-2, STEER-01.2-3, X-01, EVT-12.1, LIM-02.2, SUB-03.3, SUB-09.2, RIG-04.1]",
    async () => {
      await always(
        async (setting, actions) => {
          const run = await playAll({ ...setting, traced: true }, actions);
          must(run.command.type === "finish", `the run ends, and does not ${run.command.type}`);
          must(run.seen.largestState < 64 * 1024, `a state has ${run.seen.largestState} bytes`);
          for (const { loopId } of run.transcript.records) expectWithinLimits(run, loopId);
          const copied = await playAll({ ...setting, traced: true, throughJson: true }, actions);
          expectSameTrace(copied, run);
          expectAlike(copied.commands, run.commands);
          expectAlike(copied.state, run.state);
          expectAlike(copied.lines, run.lines);
        },
        settings,
        anyActions,
      );
    },
    PATIENCE_MS,
  );
});

describe("sub-agents", () => {
  thoroughTest(
    "are in a good share of the stories, in parallel and with nested ones",
    async () => {
      const scripts = sample(tuple(settings, anyActions), { numRuns: 500, seed: 5 });
      const stories: Run["seen"][] = [];
      for (const [setting, actions] of scripts) {
        await new Promise((resolve) => setImmediate(resolve));
        stories.push((await playAll(setting, actions)).seen);
      }
      const share = (is: (seen: Run["seen"]) => boolean) => stories.filter(is).length / stories.length;
      expect(share(({ settled }) => settled.length > 0)).toBeGreaterThan(0.3);
      expect(share(({ sideBySide }) => sideBySide > 1)).toBeGreaterThan(0.1);
      expect(share(({ settled }) => settled.some(({ used }) => used.children > 1))).toBeGreaterThan(0.05);
      expect(share(({ moves }) => [...moves].some((move) => / child-lost /.test(move)))).toBeGreaterThan(
        0.05,
      );
    },
    120_000,
  );
});

describe("crashes", () => {
  test(
    "at any step, as often as a run tolerates them, leave the same transcript [TOOL-08.1, RIG-04.2]",
    async () => {
      await always(
        async (made, actions, dying) => {
          const limits = { ...made.limits, maxDurationMs: null };
          const setting = { ...made, limits, idleTimeoutMs: null, tools: REPEATABLE };
          const calm = await playAll(setting, actions);
          const run = play(setting);
          for (const [index, action] of actions.entries()) {
            await crash(run, dying, index);
            await act(run, action);
          }
          await crash(run, dying, actions.length);
          await finish(run);
          expectAlike(record(run), record(calm));
        },
        settings,
        calmActions,
        crashes,
      );
    },
    PATIENCE_MS,
  );
});

/** Workers die here, but never three times during one command. */
async function crash(run: Run, dying: readonly Crash[], at: number): Promise<void> {
  for (const { pick, reached, elsewhere } of dying.filter((one) => one.at === at)) {
    const { phase } = run.state;
    if (!("dispatch" in phase) || run.command.type === "wait") return;
    const flush = phase.type === "calling-tools" && typeof phase.flush === "object" ? phase.flush : undefined;
    const call = run.running[pick % Math.max(1, run.running.length)];
    const status = phase.type === "calling-tools" ? phase.calls[call ?? 0]?.status : undefined;
    const running = status?.type === "running" ? status : undefined;
    const moves = elsewhere && running?.isLocal === true;
    if ((running ?? flush ?? phase.dispatch).lostWorkers >= 2 && !moves) continue;
    await run.setBack(moves ? { type: "not-local" } : { type: "lost", attempts: 1 }, reached, call);
  }
}

/** Everything that readers see, without timestamps. */
function record(run: Run) {
  return {
    lines: run.lines,
    events: run.transcript.records.map(({ loopId }) => run.eventLines(loopId)),
    inbox: run.inboxTexts,
    outcomes: run.transcript.records.map(({ outcome }) => outcome),
    last: run.state.last,
  };
}

/** The prices that actions.ts gives its answers, in 128ths, which add up exactly. */
function costOf(usages: readonly Usage[]): number {
  return usages.reduce((parts, { input, output }) => parts + (output === 1 ? input : 0), 0) / 128;
}

/** Ends of sub-agents, whose spending counts as well but is not in the loop's own events. */
function isOfChild(body: EventBody): boolean {
  return body.type === "ToolExecutionEnd" && body.toolName === "scout";
}

/** What the sub-agents that were called before the turn have used. */
function usedBefore(run: Run, loopId: string, turn: number): Amounts {
  const before = run.seen.settled.filter((one) => one.loopId === loopId && one.turn < turn);
  return before.map(({ used }) => used).reduce(addAmounts, NO_AMOUNTS);
}

function expectWithinLimits(run: Run, loopId: string): void {
  const { maxTurns, maxTotalTokens, maxCostUsd } = { ...NO_LIMITS, ...run.setting.limits };
  const bodies = run.transcript.listEvents(loopId).map(({ body }) => body);
  const ends = bodies.flatMap((body) => (body.type === "TurnEnd" ? [body.usage] : []));
  const starts = bodies.filter((body) => body.type === "TurnStart").length;
  const below = usedBefore(run, loopId, starts - 1);
  if (maxTurns !== null && starts > 0) must(starts + below.turns <= maxTurns, "no turn beyond the limit");
  const tokens = ends.slice(0, starts - 1).reduce((sum, { input, output }) => sum + input + output, 0);
  if (maxTotalTokens !== null && starts > 0)
    must(tokens + below.tokens < maxTotalTokens, "no turn after the tokens are used");
  const cost = costOf(ends.slice(0, starts - 1));
  if (maxCostUsd !== null && starts > 0)
    must(cost + toUsd(below.nanoUsd ?? 0) < maxCostUsd, "no turn after the money is spent");
  const end = bodies.at(-1);
  if (end?.type === "AgentEnd" && end.outcome.type === "limit-reached") {
    const met = [
      maxTurns !== null && starts >= maxTurns,
      maxTotalTokens !== null &&
        ends.reduce((sum, { input, output }) => sum + input + output, 0) >= maxTotalTokens,
      maxCostUsd !== null && costOf(ends) >= maxCostUsd,
      run.setting.limits?.maxDurationMs !== null,
      /^Budget of /.test(end.outcome.reason) && bodies.some(isOfChild),
    ];
    must(met.includes(true), "a limit that was met ended it");
  }
}
