import { ApplicationFailure } from "@temporalio/common";
import { isObject } from "../platform/text/json.ts";
import { isValueTooDeep } from "../platform/text/json-depth.ts";

// Checks of workflow inputs. Anyone who may start workflows can send anything. Invalid input fails the run with an
// explanation, and never the workflow task, which the server would retry for ever.

/** Describes the problem of a value as `path: must be …`, or returns `undefined` when the value is valid. */
export type Shape = (value: unknown, path: string) => string | undefined;

/** Deeper values are rejected: reading or writing them could overflow the stack later. */
const MAX_DEPTH = 400;

export const anything: Shape = () => undefined;
export const text: Shape = buildCheck("a text", (value) => typeof value === "string");
export const filledText: Shape = buildCheck(
  "a text that is not empty",
  (value) => typeof value === "string" && value !== "",
);
export const flag: Shape = buildCheck("true or false", (value) => typeof value === "boolean");
export const number: Shape = buildCheck(
  "a number",
  (value) => typeof value === "number" && Number.isFinite(value),
);
export const count: Shape = buildCheck(
  "a whole number from 0",
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);
export const object: Shape = buildCheck("an object", isObject);

export const oneOf = (...values: readonly string[]): Shape =>
  buildCheck(values.map((value) => `"${value}"`).join(" or "), (value) => values.includes(value as string));

export const optional =
  (shape: Shape): Shape =>
  (value, path) =>
    value === undefined ? undefined : shape(value, path);

export const nullable =
  (shape: Shape): Shape =>
  (value, path) =>
    value === null ? undefined : shape(value, path);

export const list =
  (shape: Shape, min = 0): Shape =>
  (value, path) => {
    if (!Array.isArray(value)) return `${path}: must be a list`;
    if (value.length < min) return `${path}: must have at least ${min} element${min === 1 ? "" : "s"}`;
    return findFirstProblem(value.map((item, at) => () => shape(item, `${path}[${at}]`)));
  };

/** Checks an object with these fields; other fields are ignored. */
export const fields =
  (shapes: Readonly<Record<string, Shape>>): Shape =>
  (value, path) => {
    if (!isObject(value)) return `${path}: must be an object`;
    const of = value as Record<string, unknown>;
    return findFirstProblem(
      Object.entries(shapes).map(
        ([name, shape]) =>
          () =>
            shape(Object.hasOwn(of, name) ? of[name] : undefined, path === "" ? name : `${path}.${name}`),
      ),
    );
  };

/** @throws A failure that ends the run and describes the problem of its input. */
export function checkShape(value: unknown, shape: Shape, what: string): void {
  const problem = isShallow(value) ? shape(value, "") : `: is nested more than ${MAX_DEPTH} levels deep`;
  if (problem === undefined) return;
  throw buildInvalidRequest(`${what} cannot begin: ${problem.replace(/^: /, "its input ")}`);
}

export function buildInvalidRequest(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, "holdfast/invalid-request");
}

/** Returns whether a value is nested at most this deep. */
export function isShallow(value: unknown, depth = MAX_DEPTH): boolean {
  return !isValueTooDeep(value, depth);
}

function buildCheck(what: string, is: (value: unknown) => boolean): Shape {
  return (value, path) => (is(value) ? undefined : `${path}: must be ${what}`);
}

function findFirstProblem(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) return problem;
  }
  return undefined;
}
