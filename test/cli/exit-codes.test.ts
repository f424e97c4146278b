import { expect, test } from "vitest";
import { EXIT, EXIT_CODES_HELP, EXIT_GUIDE, OUTCOME_EXIT_CODES } from "../../src/apps/cli/exit-codes.ts";

test("pin: exit codes", () => {
  expect(EXIT).toEqual({
    ok: 0,
    failed: 1,
    usage: 2,
    unreachable: 3,
    stopped: 4,
    limitReached: 5,
    awaitsPerson: 6,
    thresholdMissed: 7,
    interrupted: 130,
  });
  expect(OUTCOME_EXIT_CODES).toEqual({
    answered: 0,
    delivered: 0,
    failed: 1,
    rejected: 1,
    ended: 4,
    stopped: 4,
    "limit-reached": 5,
    paused: 6,
    handoff: 6,
  });
});

test("the help lists each of them, and docs/errors.md says what to do", () => {
  expect(EXIT_GUIDE.map(({ code }) => code)).toEqual(Object.values(EXIT));
  for (const code of Object.values(EXIT)) expect(EXIT_CODES_HELP).toMatch(new RegExp(`^ {2}${code} `, "m"));
});
