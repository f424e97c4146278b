// What tests import as "fast-check" (see vitest.config.ts): the library, with `assert` at the depth of the run.
//
// Without FC_RUNS, as in `npm test`, a property gets a few runs with a fixed seed, so that known failures are found again,
// and as many with a new seed, so that each run tries new inputs.
import * as library from "fast-check";
import { QUICK_RUNS } from "./test-depth.ts";

export * from "fast-check";

const SAME_SEED = 20_261_123;

/** Like fast-check's own, except for the number of runs. A property with its own seed keeps its seed and runs. */
export function assert<Ts>(
  property: library.IRawProperty<Ts>,
  parameters: library.Parameters<Ts> = {},
): Promise<void> | void {
  const { numRuns = 100, seed } = parameters;
  if (process.env["FC_RUNS"] !== undefined || seed !== undefined) return run(property, parameters);
  const few = { ...parameters, numRuns: Math.min(QUICK_RUNS, Math.ceil(numRuns / 2)) };
  const fixed = run(property, { ...few, seed: SAME_SEED });
  return fixed instanceof Promise ? fixed.then(() => run(property, few)) : run(property, few);
}

function run<Ts>(
  property: library.IRawProperty<Ts>,
  parameters: library.Parameters<Ts>,
): Promise<void> | void {
  if (property.isAsync()) yieldToEventLoop(property as library.IAsyncPropertyWithHooks<Ts>);
  limitShrinking(property);
  return library.assert(property as library.IAsyncProperty<Ts>, parameters);
}

/** How long a smaller example of a failure is searched for. The smallest of a long text could take hours. */
const SHRINK_MS = 10_000;

function limitShrinking<Ts>(property: library.IRawProperty<Ts>): void {
  const shrink = property.shrink.bind(property);
  let endMs: number | undefined;
  property.shrink = (value) => {
    endMs ??= performance.now() + SHRINK_MS;
    const until = endMs;
    return shrink(value).takeWhile(() => performance.now() < until);
  };
}

// Saved before a test can install fake timers.
const { setImmediate } = globalThis;

/**
 * Vitest reports a timeout when a process does not answer its messages for a minute. A property that only awaits
 * promises can block that long, so it yields to the event loop once a second.
 */
function yieldToEventLoop<Ts>(property: library.IAsyncPropertyWithHooks<Ts>): void {
  let last = performance.now();
  property.beforeEach(async (before) => {
    await before();
    if (performance.now() - last < 1000) return;
    await new Promise((resolve) => setImmediate(resolve));
    last = performance.now();
  });
}

export default { ...library.default, assert };
