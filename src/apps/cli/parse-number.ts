import { UsageError } from "./usage-error.ts";

export function parseWholeNumber(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new UsageError(`${flag} "${text}" must be a whole number above 0`);
}

export function parsePositiveNumber(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`${flag} "${text}" must be a number above 0`);
}
