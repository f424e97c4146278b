import fc from "fast-check";
import { expect, test } from "vitest";
import { createRandom, drawResamples } from "../../../src/evaluation/statistics/index.ts";
import { createRandomFromState } from "../../../src/evaluation/statistics/random.ts";

const seeds = fc.maxSafeInteger();

test("the generator is xoshiro128**: the words of the reference implementation from the state 1, 2, 3, 4", () => {
  const random = createRandomFromState([1, 2, 3, 4]);
  const words = [11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849];
  // `next` takes the upper bits of two words.
  for (let index = 0; index < words.length; index += 2) {
    const [first = 0, second = 0] = words.slice(index, index + 2);
    expect(random.next()).toBe(((first >>> 5) * 2 ** 26 + (second >>> 6)) / 2 ** 53);
  }
});

test("pin: the numbers of a seed stay the same", () => {
  const random = createRandom(1);
  expect([random.nextInt(1000), random.nextInt(1000), random.nextInt(1000)]).toMatchInlineSnapshot(`
    [
      568,
      753,
      889,
    ]
  `);
});

test("the same seed gives the same numbers, another seed gives others", () => {
  fc.assert(
    fc.property(seeds, seeds, (seed, other) => {
      const draw = (of: number) => {
        const random = createRandom(of);
        return Array.from({ length: 4 }, () => random.next());
      };
      expect(draw(seed)).toEqual(draw(seed));
      if (seed !== other) expect(draw(seed)).not.toEqual(draw(other));
    }),
  );
});

test("numbers are in their range, whole ones too", () => {
  fc.assert(
    fc.property(seeds, fc.integer({ min: 1, max: 2 ** 21 }), (seed, n) => {
      const random = createRandom(seed);
      for (let i = 0; i < 20; i++) {
        const number = random.next();
        expect(number >= 0 && number < 1).toBe(true);
        const whole = random.nextInt(n);
        expect(Number.isInteger(whole) && whole >= 0 && whole < n).toBe(true);
      }
    }),
  );
});

test("whole numbers are equally likely", () => {
  const random = createRandom(7);
  const counts = [0, 0, 0, 0, 0, 0, 0];
  for (let i = 0; i < 70_000; i++) counts[random.nextInt(7)]! += 1;
  // Chi squared with 6 degrees of freedom is below 22.5 with a probability of 99.9 %.
  const chiSquared = counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
  expect(chiSquared).toBeLessThan(22.5);
});

test("resamples are lists of indices of the values", () => {
  const resamples = drawResamples(createRandom(1), 5, 40);
  expect(resamples).toHaveLength(40);
  expect(resamples.every((resample) => resample.length === 5)).toBe(true);
  expect([...new Set(resamples.flat())].sort()).toEqual([0, 1, 2, 3, 4]);
});

test("a seed that is not whole and a bound that is too large are refused", () => {
  expect(() => createRandom(0.5)).toThrow("A seed must be a whole number; it is 0.5.");
  expect(() => createRandom(1).nextInt(0)).toThrow(RangeError);
  expect(() => createRandom(1).nextInt(2 ** 21 + 1)).toThrow(RangeError);
});
