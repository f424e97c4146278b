import { expect, test } from "vitest";
import { InputScreen } from "../../src/apps/cli/input-screen.ts";
import { createTerminal } from "./terminal.ts";

function screenOn(isTTY: boolean) {
  const { streams, said } = createTerminal({ isTTY });
  const lines: string[] = [];
  let interrupts = 0;
  const ended = new Promise<void>((resolve) => {
    screen = new InputScreen(streams.stdin, streams.stdout, {
      onLine: (text) => lines.push(text),
      onInterrupt: () => {
        interrupts += 1;
      },
      onEnd: resolve,
    });
  });
  return { screen: screen!, stdin: streams.stdin, said, lines, interrupts: () => interrupts, ended };
}
let screen: InputScreen | undefined;

const ESCAPE = String.fromCodePoint(27);

/** The rows that a user sees; of all cursor movements only "to the line's beginning" matters here. */
function visible(text: string): string[] {
  const rows = [""];
  for (const piece of text.split(ESCAPE)) {
    if (piece.startsWith("[1G")) rows[rows.length - 1] = "";
    const [first = "", ...more] = piece.replace(/^\[\d*[A-Z]/, "").split(/\r?\n/);
    rows[rows.length - 1] += first;
    rows.push(...more);
  }
  return rows;
}

test("output during typing appears above the line, whole lines at a time", async () => {
  const { screen, stdin, said } = screenOn(true);
  screen.setReady();
  screen.setBusy();
  stdin.write("hur");
  await expect.poll(() => visible(said.out).at(-1)).toBe("> hur");
  screen.write("half a ");
  expect(said.out).not.toContain("half");
  screen.write("line\nand more");
  await expect.poll(() => visible(said.out).at(-1)).toBe("> hur");
  expect(visible(said.out)).toContain("half a line");
  expect(said.out).not.toContain("and more");
  screen.close();
  expect(said.out).toContain("and more");
});

test("output while nothing is typed appears as it arrives", () => {
  const { screen, said } = screenOn(true);
  screen.setBusy();
  screen.write("to");
  screen.write("ken");
  expect(said.out).toBe("token");
  screen.close();
});

test("a question replaces the line being typed and restores it afterwards", async () => {
  const { screen, stdin, said, lines } = screenOn(true);
  screen.setReady();
  screen.setBusy();
  stdin.write("faster, ple");
  await expect.poll(() => visible(said.out).at(-1)).toBe("> faster, ple");
  screen.write("wants to run\n");
  screen.ask("approve? ");
  expect(visible(said.out).at(-1)).toBe("approve? ");
  screen.ask("arguments > ", "{}");
  expect(visible(said.out).at(-1)).toBe("arguments > {}");
  screen.ask("approve? ");
  stdin.write("y");
  await expect.poll(() => visible(said.out).at(-1)).toBe("approve? y");
  screen.write("output meanwhile\n");
  expect(visible(said.out).at(-1)).toBe("approve? y");
  stdin.write("\r");
  await expect.poll(() => lines).toEqual(["y"]);
  screen.endQuestion();
  expect(visible(said.out).at(-1)).toBe("> faster, ple");
  stdin.write("ase\r");
  await expect.poll(() => lines).toEqual(["y", "faster, please"]);
  screen.close();
});

test("a question stays while the agent works, and an empty line follows it if nothing was typed", () => {
  const { screen, said } = screenOn(true);
  screen.setReady();
  screen.ask("approve? ");
  screen.setBusy();
  expect(visible(said.out).at(-1)).toBe("approve? ");
  screen.endQuestion();
  expect(visible(said.out).at(-1)).toBe("");
  screen.close();
});

test("Ctrl-C is handled and breaks no line", async () => {
  const { screen, stdin, interrupts } = screenOn(true);
  screen.setReady();
  stdin.write("\u0003");
  await expect.poll(interrupts).toBe(1);
  screen.close();
});

test("without a terminal: lines in, text out, no prompt", async () => {
  const { screen, stdin, said, lines, ended } = screenOn(false);
  screen.setReady();
  stdin.end("one\ntwo\n");
  await ended;
  screen.write("answer\n");
  expect(lines).toEqual(["one", "two"]);
  expect(said.out).toBe("answer\n");
});
