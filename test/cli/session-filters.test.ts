import { expect, test } from "vitest";
import { matchesFilters } from "../../src/apps/cli/session-filters.ts";

const at = (hour: number) => new Date(Date.UTC(2026, 0, 2, hour));
const CLOSED = { startedAt: at(8), closedAt: at(12), costUsd: 2 };
const OPEN = { startedAt: at(8), costUsd: null };

test.each([
  ["closed after a time", CLOSED, { since: at(10) }, true],
  ["closed at that time", CLOSED, { since: at(12) }, true],
  ["closed before it", CLOSED, { since: at(13) }, false],
  ["still open", OPEN, { since: at(10) }, true],
  ["closed before an end", CLOSED, { until: at(13) }, true],
  ["closed at that end", CLOSED, { until: at(12) }, false],
  ["started before it, and still open", OPEN, { until: at(9) }, true],
  ["of a higher cost", CLOSED, { costOver: 1.5 }, true],
  ["of that cost", CLOSED, { costOver: 2 }, false],
  ["of an unknown cost", OPEN, { costOver: 0 }, false],
  ["and no filter", OPEN, {}, true],
])("a job %s", (_, job, filters, expected) => {
  expect(matchesFilters(job, filters)).toBe(expected);
});
