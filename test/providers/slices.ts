/** Cut positions from a seed: the same slices in every run. */
export function sliceRandomly(bytes: Uint8Array, seed: number, longest = 400): Uint8Array[] {
  const next = createRandom(seed);
  const slices: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + Math.floor(next() ** 3 * longest);
    slices.push(bytes.subarray(at, at + length));
    at += length;
  }
  return slices;
}

/** Positions to cut at, from a seed. */
export function pickCutPoints(bytes: Uint8Array, seed: number, count: number): number[] {
  const next = createRandom(seed);
  return Array.from({ length: count }, () => Math.floor(next() * bytes.length));
}

export function sliceBytes(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
}

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
