import { expect, test } from "vitest";
import { sanitizeForTerminal } from "../../src/apps/cli/output.ts";
import { createPalette, stripPaint } from "../../src/apps/cli/palette.ts";
import { Renderer } from "../../src/apps/cli/render.ts";
import { detectImageProtocol, formatTerminalImage } from "../../src/apps/cli/terminal-image.ts";
import type { ImageContent } from "../../src/schema/message.ts";

const png: ImageContent = { type: "image", mimeType: "image/png", name: "a.png", data: "QUJD".repeat(2500) };
const jpeg: ImageContent = { ...png, mimeType: "image/jpeg" };

test.each([
  [{ TERM: "xterm-kitty" }, "kitty"],
  [{ TERM: "xterm-ghostty" }, "kitty"],
  [{ KITTY_WINDOW_ID: "1", TERM: "xterm-256color" }, "kitty"],
  [{ TERM_PROGRAM: "iTerm.app" }, "iterm"],
  [{ LC_TERMINAL: "iTerm2" }, "iterm"],
  [{ TERM_PROGRAM: "WezTerm" }, "iterm"],
  [{ TERM: "xterm-256color", TERM_PROGRAM: "Apple_Terminal" }, undefined],
  [{ TERM: "xterm-kitty", TMUX: "/tmp/tmux" }, undefined],
  [{ TERM: "screen-256color", LC_TERMINAL: "iTerm2" }, undefined],
])("a terminal displays images: %j", (env, protocol) => {
  expect(detectImageProtocol({ isTTY: true }, env)).toBe(protocol);
  expect(detectImageProtocol({}, env)).toBeUndefined();
});

test("kitty receives a PNG in chunks, of which only the last ends the image", () => {
  const sent = sanitizeForTerminal(formatTerminalImage(png, "kitty") ?? "");
  const commands = sent.split("\u001b\\").filter((command) => command !== "");
  expect(commands.map((command) => command.replace("\u001b_G", "").split(";")[0])).toEqual([
    "a=T,f=100,q=2,r=12,m=1",
    "m=1",
    "m=0",
  ]);
  expect(commands.map((command) => command.split(";")[1]).join("")).toBe(png.data);
  expect(formatTerminalImage(jpeg, "kitty")).toBeUndefined();
});

test("iTerm receives any image in one sequence", () => {
  const sent = sanitizeForTerminal(formatTerminalImage(jpeg, "iterm") ?? "");
  expect(sent).toBe(`\u001b]1337;File=inline=1;preserveAspectRatio=1;height=12:${jpeg.data}\u0007`);
});

test("nothing but base64 is sent, and the same sequence from outside has no effect", () => {
  for (const data of ["", "QUJD\u0007\u001b[2J", "QUJD\nQUJD", "A".repeat(9 * 1024 * 1024)]) {
    expect(formatTerminalImage({ ...png, data }, "kitty")).toBeUndefined();
    expect(formatTerminalImage({ ...png, data }, "iterm")).toBeUndefined();
  }
  const outside = stripPaint(formatTerminalImage(png, "kitty") ?? "");
  expect(outside).toBe("");
  expect(sanitizeForTerminal("\u001b_Ga=T;QUJD\u001b\\")).not.toContain("\u001b");
  expect(sanitizeForTerminal("\u001b]1337;File=inline=1:QUJD\u0007")).toBe("]1337;File=inline=1:QUJD");
});

test("images and files of prompts and results are a line each; an image follows where the terminal displays it", () => {
  const show = (images?: "iterm") => {
    let text = "";
    const write = (part: string) => {
      text += part;
    };
    const renderer = new Renderer({ write, paint: createPalette({}, {}), images });
    const pdf = { type: "file" as const, mimeType: "application/pdf", name: "a.pdf", data: "QUJD", pages: 2 };
    const content = [{ type: "text" as const, text: "See" }, { ...png }, pdf];
    renderer.show({ type: "MessageEnd", loopId: "l", message: { role: "user", content, timestamp: 1 } });
    const call = { loopId: "l", toolCallId: "c", toolName: "read" };
    renderer.show({ type: "ToolExecutionEnd", ...call, result: { content: [png] }, isError: false });
    return sanitizeForTerminal(text);
  };
  const lines = [
    "> See",
    "  [image a.png 7 KB image/png]",
    "  [file a.pdf 3 bytes application/pdf 2 pages]",
    "● read",
    "  [image a.png 7 KB image/png]",
    "✓ read",
    "",
  ];
  expect(show()).toBe(lines.join("\n"));
  const picture = `\u001b]1337;File=inline=1;preserveAspectRatio=1;height=12:${png.data}\u0007`;
  expect(show("iterm")).toBe(
    lines.flatMap((line) => (line.includes("a.png") ? [line, picture] : [line])).join("\n"),
  );
});
