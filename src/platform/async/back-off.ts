/** The pauses between retries. */
export type BackOff = {
  /** The pause after the first failure, in milliseconds. It grows with each further failure. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** 2 by default. */
  readonly factor?: number;
};

/** Computes the pause after a number of consecutive failures, 1 or more. */
export function computePauseMs({ firstMs, longestMs, factor = 2 }: BackOff, failures: number): number {
  return Math.min(firstMs * factor ** (failures - 1), longestMs);
}

/** Varies a pause by up to half, so that many who wait for the same thing do not retry at once. */
export function randomisePauseMs(pauseMs: number): number {
  return pauseMs * (0.5 + Math.random());
}
