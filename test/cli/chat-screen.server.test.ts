import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from "vitest";
import type { Answer } from "../../src/testing/model-server/script.ts";
import { PNG } from "../support/media.ts";
import { testIf } from "../support/skipping.ts";
import { isThorough, thoroughTest } from "../support/test-depth.ts";
import { formatConnectionOptions } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import { hasPseudoTerminal, PseudoTerminal } from "./pseudo-terminal.ts";

const terminalTest = testIf(hasPseudoTerminal, "this system has no `script` of util-linux");
const thoroughTerminalTest = isThorough ? terminalTest : thoroughTest;

const CTRL_C = "\u0003";
const CTRL_R = "\u0012";
const CTRL_X = "\u0018";

const UP = "\u001b[A";
const ENTER = "\r";
const ESCAPE = "\u001b";

let stage: TestEnvironment;
let folder: string;
const open: PseudoTerminal[] = [];
beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(async () => {
  await stage.close();
});
beforeEach(async () => {
  folder = await mkdtemp(join(stage.home, "project-"));
});
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.close();
});

/** Answers conversations whose first message has the test's folder's name. */
function script(...replies: readonly Answer[]): void {
  const marker = folder;
  stage.model.script({
    conversations: [{ match: ({ system }) => system.includes(marker), replies: [...replies] }],
  });
}

type Settings = { readonly env?: NodeJS.ProcessEnv; readonly before?: string; readonly rows?: number };

async function openChat(args: readonly string[] = [], settings: Settings = {}): Promise<PseudoTerminal> {
  const model = ["--model", "local/test-model", "--base-url", stage.model.openaiBaseUrl];
  const { env = {}, ...size } = settings;
  const terminal = PseudoTerminal.open(["chat", ...model, ...args, ...formatConnectionOptions(stage)], {
    env: { HOME: stage.home, ...env },
    cwd: folder,
    ...size,
  });
  open.push(terminal);
  await terminal.waitFor("ready ·");
  return terminal;
}

/** The texts of the user's messages in the newest request. */
function readSentMessages(): readonly string[] {
  const body = stage.model.requests.at(-1)?.body as {
    messages: readonly { role: string; content: unknown }[];
  };
  return body.messages
    .filter(({ role }) => role === "user")
    .map(({ content }) =>
      typeof content === "string"
        ? content
        : (content as readonly { text: string }[]).map(({ text }) => text).join(""),
    );
}

terminalTest(
  "a paste and a line that ends with a backslash are one message, and the answer is Markdown",
  async () => {
    script({ text: "# Result\n\nIt is **bold**, with `code`:\n\n- first\n- second\n" });
    const chat = await openChat([], { before: "$ an earlier command" });
    chat.paste("Look:\n\tindented\nlast");
    await chat.waitFor("⇥indented");
    chat.type(" and\\\rmore\u001b\rend");
    await chat.waitFor("end");
    expect(stage.model.requests).toHaveLength(0);
    chat.type(ENTER);
    await chat.waitFor("- second");
    await chat.waitFor("ready ·");
    expect(readSentMessages()).toEqual(["Look:\n\tindented\nlast and\nmore\nend"]);
    expect(chat.text).toContain("\nResult\n");
    expect(chat.text).toContain("It is bold, with code:");
    await chat.waitFor(/ready · test-model · [\d.k]+\/128k \(\d+%\) · cost unknown · turn 1 · /);

    chat.type("half a tho");
    await chat.waitFor("half a tho");
    chat.type(CTRL_C);
    await chat.waitUntil((screen) => !screen.includes("half a tho"));
    chat.type(CTRL_C);
    await chat.waitFor("Press Ctrl-C again to exit.");
    chat.type(CTRL_C);
    expect(await chat.exitCode).toBe(0);
    // What was there before stays, and so does the conversation; the editor and the status line are gone.
    expect(chat.all[0]).toBe("$ an earlier command");
    expect(chat.text).toContain("- second");
    expect(chat.text).toMatch(/Left\. To resume: holdfast chat --session \S+$/);
    expect(chat.text).not.toContain("ready ·");
    // The terminal has its modes back: the cursor is visible, and pastes are not marked.
    expect(chat.output.lastIndexOf("\u001b[?25h")).toBeGreaterThan(chat.output.lastIndexOf("\u001b[?25l"));
    expect(chat.output.lastIndexOf("\u001b[?2004l")).toBeGreaterThan(
      chat.output.lastIndexOf("\u001b[?2004h"),
    );
  },
  60_000,
);

terminalTest(
  "a message steers while a question is open, and the question waits for its answer",
  async () => {
    script({ toolCalls: [{ name: "bash", arguments: { command: "echo paid" } }] }, { text: "That was it." });
    const chat = await openChat();
    chat.type(`Pay${ENTER}`);
    await chat.waitFor("? bash wants to run");
    await chat.waitFor("waits for approval");
    chat.type("in euros, please");
    await chat.waitFor("in euros, please");
    // No letter has answered.
    expect(chat.text).toContain("? bash wants to run");
    chat.type(ENTER);
    await chat.waitFor("» in euros, please");
    expect(chat.text).toContain("? bash wants to run");
    chat.type("\ty");
    await chat.waitFor("→ 1 Yes");
    chat.type(ENTER);
    await chat.waitFor("That was it.");
    expect(readSentMessages()).toEqual(["Pay", "in euros, please"]);
    expect(chat.text).toMatch(
      /approved: bash: echo paid.*✓ bash echo paid.*› in euros, please.*That was it\./s,
    );
  },
  60_000,
);

thoroughTerminalTest(
  "a pasted path of an image is an attachment that Ctrl-X removes, and Enter sends",
  async () => {
    script({ text: "A red dot." });
    const image = join(folder, "a dot.png");
    await writeFile(image, PNG);
    await writeFile(join(folder, "notes.md"), "Notes.");
    const chat = await openChat();
    chat.paste(image.replace("a dot", "a\\ dot"));
    await chat.waitFor(`@"${image}"`);
    await chat.waitFor(/attached: a dot\.png \(\d+ bytes\) — Ctrl-X removes it/);
    chat.type(CTRL_X);
    await vi.waitFor(() => expect(chat.text).not.toContain("attached:"));
    chat.type("What is ");
    chat.paste(image);
    chat.type("and \\@notes.md?");
    await chat.waitFor("attached:");
    expect(chat.text).not.toMatch(/attached: .*notes/);
    chat.type(ENTER);
    await chat.waitFor("A red dot.");
    const body = stage.model.requests.at(-1)?.body as { messages: { role: string; content: unknown }[] };
    const content = body.messages.find(({ role }) => role === "user")?.content;
    expect(content).toEqual([
      { type: "text", text: `What is @"${image}" and @notes.md?` },
      expect.objectContaining({ type: "image_url" }),
    ]);
  },
);

thoroughTerminalTest(
  "a chat is continued where it was, with its last messages and the history of all chats",
  async () => {
    script({ text: "Seven." }, { text: "Eight." });
    const chat = await openChat();
    chat.type(`What is 3 + 4?${ENTER}`);
    await chat.waitFor("Seven.");
    await chat.waitFor("ready ·");
    chat.type("/exit\r");
    expect(await chat.exitCode).toBe(0);

    const later = await openChat(["--continue"]);
    expect(later.text).toMatch(/› What is 3 \+ 4\?\n+Seven\./);
    // The status line knows the model and the size of the context again.
    expect(later.text).toMatch(/ready · test-model · [\d.k]+\/128k \(\d+%\)/);
    later.type(UP);
    await later.waitUntil((screen) => screen.split("What is 3 + 4?").length === 3);
    later.type(CTRL_C);
    await later.waitUntil((screen) => screen.split("What is 3 + 4?").length === 2);
    later.type(`${CTRL_R}3 +`);
    await later.waitFor("search earlier messages: 3 +");
    later.type(ENTER);
    await later.waitUntil((screen) => !screen.includes("search earlier messages"));
    later.type(` And one more?${ENTER}`);
    await later.waitFor("Eight.");
    expect(readSentMessages()).toEqual(["What is 3 + 4?", "What is 3 + 4? And one more?"]);
    const id = /session (\S+) ·/.exec(chat.all.join("\n"))?.[1];
    expect(later.all.join("\n")).toContain(`session ${id} ·`);
    expect(await readFile(join(stage.home, "chat-history.jsonl"), "utf8")).toContain("What is 3 + 4?");
  },
  60_000,
);

thoroughTerminalTest(
  "Ctrl-C clears what is typed, then stops the run, then exits",
  async () => {
    script({ text: "one two three four", chunkSize: 4, holdUntil: "never" });
    const chat = await openChat();
    chat.type(`Count${ENTER}`);
    await chat.waitFor("one");
    chat.type("wai");
    await chat.waitFor("wai");
    chat.type(CTRL_C);
    await chat.waitUntil((screen) => !screen.includes("wai"));
    expect(chat.text).not.toMatch(/stopp/);
    chat.type(CTRL_C);
    await chat.waitFor("stopped: interrupted at the terminal");
    await chat.waitFor("ready ·");
    // Another key takes the warning back.
    chat.type(CTRL_C);
    await chat.waitFor("Press Ctrl-C again to exit.");
    chat.type("x");
    await chat.waitFor("ready ·");
    chat.type(CTRL_C);
    await chat.waitUntil((screen) => !/^x/m.test(screen));
    chat.type(CTRL_C);
    await chat.waitFor("Press Ctrl-C again to exit.");
    chat.type(CTRL_C);
    expect(await chat.exitCode).toBe(0);
  },
  60_000,
);

thoroughTerminalTest(
  "commands and files are completed",
  async () => {
    script({ text: "I see." });
    await writeFile(join(folder, "quarterly report.txt"), "Sales rose.");
    const chat = await openChat();
    chat.type("/st");
    await chat.waitFor(/→ \/status +display the session's status/);
    chat.type(ENTER);
    await chat.waitFor("There is no session");
    chat.type("read @quart");
    await chat.waitFor("→ quarterly report.txt");
    chat.type("\t");
    await chat.waitFor('read @"quarterly report.txt"');
    chat.type(ENTER);
    await chat.waitFor("I see.");
    expect(readSentMessages()).toEqual([
      expect.stringMatching(/^read @"quarterly report\.txt".*Sales rose\./s),
    ]);
  },
  60_000,
);

thoroughTerminalTest(
  "other people's words steer no terminal, and NO_COLOR is respected",
  async () => {
    const words = `a${ESCAPE}]0;owned\u0007b${ESCAPE}[2Jc\u009b2Jd\u202ee`;
    script(
      {
        text: words,
        thinking: words,
        toolCalls: [{ name: "bash", arguments: { command: `echo ${words}` } }],
      },
      { text: "End." },
    );
    const chat = await openChat([], { env: { NO_COLOR: "1" } });
    chat.type(`Go${ENTER}`);
    await chat.waitFor("? bash wants to run");
    chat.type("y");
    await chat.waitFor("→ 1 Yes");
    chat.type(ENTER);
    await chat.waitFor("End.");
    expect(chat.output).not.toContain(`${ESCAPE}]0;`);
    expect(chat.output).not.toContain(`${ESCAPE}[2J`);
    expect(chat.output).not.toMatch(/[\u0080-\u009f\u202e]/);
    const styles = [...chat.output.replaceAll(ESCAPE, "").matchAll(/\[([\d;]*)m/g)].map(
      ([, codes = ""]) => codes,
    );
    // Reset, bold, italic, underline, inverse (the cursor), strikethrough, and their ends: no colours.
    expect(styles.filter((codes) => !/^(?:0|1|3|4|7|9|22|23|24|27|29)?$/.test(codes))).toEqual([]);
  },
  60_000,
);

thoroughTerminalTest(
  "a window of another size shows the end of the conversation, and no line is lost",
  async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index + 1} of the answer`);
    script({ text: lines.join("\n\n") });
    const chat = await openChat([], { before: "$ an earlier command", rows: 20 });
    chat.type(`Go${ENTER}`);
    await chat.waitFor("line 60 of");
    await chat.waitFor("ready ·");
    const listRows = () => chat.all.filter((row) => row.startsWith("line "));
    expect(listRows()).toEqual(lines);
    chat.resize(70, 24);
    chat.type("abc");
    await chat.waitFor("abc");
    expect(chat.rows.filter((row) => row !== "").at(-1)).toContain("ready ·");
    expect(chat.text).toContain("line 60 of");
    chat.type(CTRL_C);
    await chat.waitUntil((screen) => !screen.includes("abc"));
    chat.type(`/exit${ENTER}`);
    expect(await chat.exitCode).toBe(0);
    expect(chat.all[0]).toBe("$ an earlier command");
    expect([...new Set(listRows())].sort()).toEqual([...lines].sort());
  },
  60_000,
);

thoroughTerminalTest(
  "a terminal that cannot move the cursor gets lines, and so does --json",
  async () => {
    script({ text: "Plain." });
    const chat = PseudoTerminal.open(
      [
        ...["chat", "--model", "local/test-model", "--base-url", stage.model.openaiBaseUrl],
        ...formatConnectionOptions(stage),
      ],
      { env: { HOME: stage.home, TERM: "dumb" }, cwd: folder },
    );
    open.push(chat);
    await chat.waitFor("· /help");
    chat.type(`Hi${ENTER}`);
    await chat.waitFor("Plain.");
    expect(chat.output).not.toContain(`${ESCAPE}[?2026h`);
    await chat.waitFor(/Plain\.\n>/);
    chat.type("/quit\r");
    expect(await chat.exitCode).toBe(0);
  },
  60_000,
);
