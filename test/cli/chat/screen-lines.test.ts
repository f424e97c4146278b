import xterm from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameAdapter } from "../../../src/apps/cli/tui/frame-adapter.ts";
import { guardLine, LineGuard, sanitizeText } from "../../../src/apps/cli/tui/line-guard.ts";
import { CURSOR_MARKER, visibleWidth } from "../../../src/apps/cli/tui/pi-tui.ts";

const ESCAPE = String.fromCodePoint(27);
/** Characters that a terminal acts on, and those that display letters in another order than they are read. */
const STEERS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const PIECES = [
  ...[
    "a",
    "b c",
    "日本",
    "👩‍👩‍👧",
    "\t",
    "\n",
    "\r",
    "\u0007",
    "\u202e",
    "\u009b2J",
    `${ESCAPE}]0;owned\u0007`,
  ],
  ...[
    `${ESCAPE}[2J`,
    `${ESCAPE}[31m`,
    `${ESCAPE}[0m`,
    `${ESCAPE}[38;5;2m`,
    `${ESCAPE}c`,
    ESCAPE,
    `${ESCAPE}[`,
  ],
];
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join(""));

test("property: only colours and the mark of the cursor leave a line, and no line is wider than the screen", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 40 }), (line, width) => {
      const guarded = guardLine(line, width);
      const rest = guarded
        .replaceAll(CURSOR_MARKER, "")
        .replaceAll(new RegExp(`${ESCAPE}\\[[\\d;]*m`, "g"), "");
      expect(rest).not.toMatch(STEERS);
      expect(visibleWidth(guarded)).toBeLessThanOrEqual(width);
      expect(sanitizeText(line).replaceAll("\n", "")).not.toMatch(STEERS);
    }),
  );
});

test("a line that the last screen had is guarded for the new width", () => {
  const guard = new LineGuard();
  expect(guard.guard(["abcdef"], 10)).toEqual(["abcdef"]);
  expect(guard.guard(["abcdef"], 3).map(visibleWidth)).toEqual([3]);
});

const BEGIN = `${ESCAPE}[?2026h`;
const END = `${ESCAPE}[?2026l`;
/** What the library writes for a complete redraw. */
const redraw = (lines: readonly string[]) =>
  `${BEGIN}${ESCAPE}[2J${ESCAPE}[H${ESCAPE}[3J${lines.join("\r\n")}${END}`;
const number = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);

async function show(...frames: readonly string[]): Promise<readonly string[]> {
  const terminal = new xterm.Terminal({ cols: 40, rows: 5, allowProposedApi: true });
  for (const frame of frames) await new Promise<void>((resolve) => terminal.write(frame, resolve));
  const { active } = terminal.buffer;
  return Array.from(
    { length: active.length },
    (_, row) => active.getLine(row)?.translateToString(true) ?? "",
  );
}

test("a complete redraw writes the visible lines again, and each line is in the scrollback once", async () => {
  const adapter = new FrameAdapter();
  const lines = number(8);
  adapter.setLines(lines);
  const first = adapter.adapt(`${BEGIN}${lines.join("\r\n")}${END}`, 5);
  const changed = lines.with(1, "changed above the screen").with(6, "changed");
  adapter.setLines(changed);
  const second = adapter.adapt(redraw(changed), 5);
  expect(second).not.toContain(`${ESCAPE}[3J`);
  expect(await show("$ before\r\n", first, second)).toEqual([
    "$ before",
    ...["line 1", "line 2", "line 3", "line 4", "line 5", "line 6", "changed", "line 8"],
  ]);
});

test("a redraw after output of other programs moves that to the scrollback", async () => {
  const adapter = new FrameAdapter();
  adapter.setLines(number(2));
  const first = adapter.adapt(`${BEGIN}${number(2).join("\r\n")}${END}`, 5);
  adapter.share();
  adapter.setLines(number(2));
  const shown = await show(first, "\r\n$ ls", adapter.adapt(redraw(number(2)), 5));
  expect(shown.slice(0, 3)).toEqual(["line 1", "line 2", "$ ls"]);
  expect(shown.slice(-5)).toEqual(["line 1", "line 2", "", "", ""]);
});

test("a redraw that the user asked for prints what changed above the screen, and nothing before it", async () => {
  const adapter = new FrameAdapter();
  const lines = number(8);
  const given = [...lines];
  adapter.setLines(given);
  // The library does so.
  given.fill("other text");
  const first = adapter.adapt(`${BEGIN}${lines.join("\r\n")}${END}`, 5);
  adapter.reprint();
  const expanded = [...lines.slice(0, 2), "more of it", ...lines.slice(2)];
  adapter.setLines(expanded);
  const shown = await show(first, adapter.adapt(redraw(expanded), 5));
  expect(shown.slice(-5)).toEqual(["line 4", "line 5", "line 6", "line 7", "line 8"]);
  expect(shown.filter((line) => line === "line 1")).toHaveLength(1);
  expect(shown).toContain("more of it");
});
