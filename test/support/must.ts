import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/** A much faster `expect(holds).toBe(true)`, for properties that check thousands of times. */
export function must(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message);
}

/** A faster `expect(actual).toEqual(wanted)`, for properties that check thousands of times. */
export function alike(actual: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(actual, wanted)) expect(actual).toEqual(wanted);
}
