import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/** As `expect(holds).toBe(true)`, for what a property asks thousands of times: and much quicker. */
export function must(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message);
}

/** As `expect(actual).toEqual(wanted)`, for what a property asks thousands of times. */
export function alike(actual: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(actual, wanted)) expect(actual).toEqual(wanted);
}
