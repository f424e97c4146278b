import { expect, test } from "vitest";
import { Context } from "../../src/apps/cli/context.ts";
import { formatRows, type ListedRow } from "../../src/apps/cli/session-table.ts";
import { shortenIds } from "../../src/apps/cli/short-ids.ts";
import { truncateToWidth } from "../../src/apps/cli/table.ts";
import { createTerminal } from "./terminal.ts";

const NOW = Date.UTC(2026, 0, 2, 12);
const row = (id: string, more: Partial<ListedRow> = {}): ListedRow => ({
  id,
  status: "completed",
  agent: "reviewer",
  model: "claude-sonnet-4-5",
  loops: 1,
  turns: 12,
  costUsd: 0.25,
  lastActiveAt: new Date(NOW - 3 * 3_600_000),
  title: "Review the change of the queue",
  ...more,
});
const ROWS = [
  row("5f0c8d1e-1111-4111-8111-111111111111"),
  row("77aa8d1e-1111-4111-8111-111111111111.sub-0a1b2c3d", {
    status: "needs-approval",
    root: "77aa8d1e-1111-4111-8111-111111111111",
    title: "scout · Find out why the tests fail at night, and mend them",
  }),
  row("release", {
    status: "failed",
    lastActiveAt: new Date(NOW),
    title: "変更点を要約して、翻訳し、公開する準備をしてください",
  }),
];

function format(columns: number, isTTY = true): readonly string[] {
  const { streams } = createTerminal({ isTTY, env: { NO_COLOR: "1" } });
  const context = new Context({ ...streams, stdout: Object.assign(streams.stdout, { columns }) }, {});
  return formatRows(context, ROWS, NOW);
}

test("at a terminal of 60 columns, a list has ids that commands take, states and titles, and no line is longer", () => {
  expect(format(60)).toEqual([
    "ID                     STATUS          TITLE",
    "5f0c8d1e               completed       Review the change of…",
    "77aa8d1e.sub-0a1b2c3d  needs-approval  scout · Find out why…",
    "release                failed          変更点を要約して、翻…",
  ]);
});

test("with more room, a list has more columns, the most useful first; in a pipe it has all of them in full", () => {
  expect(format(84)[0]).toBe("ID                     STATUS          ACTIVE  AGENT     TITLE");
  expect(format(400)[0]?.split(/ {2,}/)).toEqual([
    "ID",
    "STATUS",
    "ACTIVE",
    "AGENT",
    "MODEL",
    "LOOPS",
    "TURNS",
    "USD",
    "ROOT",
    "TITLE",
  ]);
  const piped = format(60, false);
  expect(piped[0]).toContain("LAST ACTIVE (UTC)");
  expect(piped[1]).toContain("5f0c8d1e-1111-4111-8111-111111111111");
  expect(piped[2]).toContain("and mend them");
});

test("generated ids are shortened as far as they stay different; names stay", () => {
  const [one, other] = ["5f0c8d1e-1111-4111-8111-111111111111", "5f0c8d1e-2111-4111-8111-111111111111"];
  const shorten = shortenIds([one, other, "my-session", "my"]);
  expect([one, other, "my-session", `${one}.sub-1`].map(shorten)).toEqual([
    "5f0c8d1e-1",
    "5f0c8d1e-2",
    "my-session",
    "5f0c8d1e-1.sub-1",
  ]);
});

test("a text is truncated between characters, by the cells that they take", () => {
  expect(truncateToWidth("whole", 5)).toBe("whole");
  expect(truncateToWidth("一二三四", 6)).toBe("一二…");
  expect(truncateToWidth("a👩‍👩‍👧‍👦b", 2)).toBe("a…");
});
