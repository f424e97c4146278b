/** A source of numbers that look random and are the same for the same seed. Each call changes the source. */
export type Random = {
  /** Returns a number from 0, which is included, to 1, which is not: 53 random bits. */
  next(): number;
  /** Returns a whole number from 0 to `n - 1`, all equally likely. `n` is between 1 and 2^32. */
  nextInt(n: number): number;
};

/** How many different numbers 32 bits can hold. */
const TWO_TO_32 = 2 ** 32;

/** How many different numbers the 53 bits of a double's fraction can hold. */
const TWO_TO_53 = 2 ** 53;

/**
 * Creates a generator: xoshiro128** 1.1 by D. Blackman and S. Vigna, https://prng.di.unimi.it/xoshiro128starstar.c.
 *
 * It is for experiments, not for secrets.
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
      if (!(Number.isSafeInteger(n) && n >= 1 && n <= TWO_TO_32)) {
        throw new RangeError(`A random whole number needs a bound between 1 and 2^32; it is ${n}.`);
      }
      // Words above the last multiple of n are drawn again: they would make small numbers more likely.
      const limit = TWO_TO_32 - (TWO_TO_32 % n);
      let word = nextWord();
      while (word >= limit) word = nextWord();
      return word % n;
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
