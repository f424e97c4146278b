/** A source of numbers that look random and are the same for the same seed. Each call changes the source. */
export type Random = {
  /** Returns a number from 0, which is included, to 1, which is not: 53 random bits. */
  next(): number;
  /** Returns a whole number from 0 to `n - 1`, all equally likely. `n` is between 1 and 2^21. */
  nextInt(n: number): number;
};

/** How many different numbers 32 bits can hold. */
const TWO_TO_32 = 2 ** 32;

/** The product of a 32-bit number and one up to this is exact in a double. */
const MAX_BOUND = 2 ** 21;

/** How many different numbers the 53 bits of a double's fraction can hold. */
const TWO_TO_53 = 2 ** 53;

/**
 * Creates a generator: xoshiro128** 1.1 by D. Blackman and S. Vigna, https://prng.di.unimi.it/xoshiro128starstar.c.
 *
 * It is for experiments, not for secrets. Whole numbers are drawn as in D. Lemire, "Fast Random Integer Generation in an
 * Interval", ACM Transactions on Modeling and Computer Simulation 29, 2019.
 *
 * @param seed - Any whole number that a double holds exactly.
 */
export function createRandom(seed: number): Random {
  if (!Number.isSafeInteger(seed)) throw new RangeError(`A seed must be a whole number; it is ${seed}.`);
  return createRandomFromState(expandSeed(seed));
}

/** Creates a generator with this state, which must have four 32-bit numbers that are not all 0. */
export function createRandomFromState(state: readonly [number, number, number, number]): Random {
  let [a, b, c, d] = state;
  const nextWord = (): number => {
    const product = Math.imul(b, 5);
    const word = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return word;
  };
  return {
    next: () => ((nextWord() >>> 5) * 2 ** 26 + (nextWord() >>> 6)) / TWO_TO_53,
    nextInt: (n) => {
      if (!(Number.isSafeInteger(n) && n >= 1 && n <= MAX_BOUND)) {
        throw new RangeError(`A random whole number needs a bound between 1 and 2^21; it is ${n}.`);
      }
      let product = nextWord() * n;
      // Each number has some products more than others have, unless the lowest 2^32 % n remainders are drawn again.
      if (product >>> 0 < n) {
        const threshold = TWO_TO_32 % n;
        while (product >>> 0 < threshold) product = nextWord() * n;
      }
      return Math.floor(product / TWO_TO_32);
    },
  };
}

/**
 * Makes four words of a seed, as the authors of xoshiro advise: by a generator of another kind.
 *
 * This is SplitMix with 32 bits: steps by the golden ratio, mixed by the finalizer of MurmurHash3 (A. Appleby).
 */
function expandSeed(seed: number): readonly [number, number, number, number] {
  const low = seed >>> 0;
  const high = Math.floor(seed / TWO_TO_32) >>> 0;
  let state = (low ^ mixWord(high)) >>> 0;
  const nextWord = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    return mixWord(state);
  };
  return [nextWord(), nextWord(), nextWord(), nextWord()];
}

function mixWord(word: number): number {
  const first = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}
