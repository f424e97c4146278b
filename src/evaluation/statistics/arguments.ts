/** Throws unless the number is between 0 and 1, both excluded. */
export function assertProbability(name: string, value: number): void {
  if (value > 0 && value < 1) return;
  throw new RangeError(`${name} must be between 0 and 1, both excluded; it is ${value}.`);
}

/** Throws unless the number is whole and between the bounds, both included. */
export function assertCount(
  name: string,
  value: number,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  const bounds = most === Number.MAX_SAFE_INTEGER ? `at least ${least}` : `between ${least} and ${most}`;
  throw new RangeError(`${name} must be a whole number, ${bounds}; it is ${value}.`);
}

/** Throws unless there are enough values and each is a finite number. */
export function assertValues(name: string, values: readonly number[], least: number): void {
  if (values.length < least) {
    throw new RangeError(`${name} must have at least ${least} numbers; there are ${values.length}.`);
  }
  const wrong = values.findIndex((value) => !Number.isFinite(value));
  if (wrong >= 0) throw new RangeError(`${name} must be finite; number ${wrong + 1} is ${values[wrong]}.`);
}
