import { expect, test } from "vitest";
import { findForkPosition } from "../../../src/activities/suite/fork-for-cell.ts";

const ROLES = ["user", "assistant", "toolResult", "assistant", "user", "assistant"];

test.each([
  // With messages of its own, a cell begins after so many answers and their results.
  [0, true, 0],
  [1, true, 3],
  [2, true, 4],
  [3, true, 6],
  [undefined, true, 6],
  // Without, it gives the next answer in place of the recorded one.
  [0, false, 1],
  [1, false, 3],
  [2, false, 5],
  [3, false, 6],
  [undefined, false, 5],
  [4, true, undefined],
  [4, false, undefined],
])("turn %s, with messages of its own: %s, begins before entry %s", (turn, hasMessages, position) => {
  expect(findForkPosition(ROLES, turn, hasMessages)).toBe(position);
});

test("a session that ends with a question is continued with its answer", () => {
  expect(findForkPosition(["user", "assistant", "user"], undefined, false)).toBe(3);
});
