import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tools/tool.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

let stage: TestEnvironment;

const seen: unknown[] = [];
const tally = defineTool({
  name: "add_up",
  description: "Adds numbers",
  aliases: ["sum"],
  inputSchema: z.object({ numbers: z.array(z.number()), label: z.string().optional() }),
  replay: "pure",
  quick: true,
  execute: (parameters) => {
    seen.push(parameters);
    return `${parameters.label ?? "sum"}: ${parameters.numbers.reduce((a, b) => a + b, 0)}`;
  },
});

beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [tally] });
});
afterAll(() => stage.close());

function over(protocol: "anthropic" | "openai") {
  return protocol === "anthropic"
    ? {}
    : {
        model: { api: "openai_completions" as const, provider: "openai", baseUrl: stage.model.openaiBaseUrl },
      };
}

test.each(["anthropic", "openai"] as const)(
  "a careless model's calls are run as intended, and the answer stays as written [RIG-07.1, RIG-08] (%s)",
  async (protocol) => {
    seen.length = 0;
    await writeFile(join(stage.home, "note.txt"), "one\ntwo\nthree\n");
    const session = stage.session({
      replies: [
        {
          toolCalls: [
            { name: "Add-Up", arguments: { numbers: "[1, 2]", label: 7 } },
            { name: "sum", arguments: '{"numbers": [3, "4"' },
            { name: "sum", arguments: '{numbers: [3, 4], label: "loose",' },
            { name: "sum", arguments: '{numbers: [3, 4], label: "loose",}' },
            { name: "readFile", arguments: { path: "note.txt", offset: "2", limit: null } },
            { name: "shell", arguments: { command: "echo from bash", why: "to see" } },
          ],
        },
        { text: "Done." },
      ],
      agent: { tools: ["add_up", "read_file", "bash"], ...over(protocol) },
    });
    expect(await session.run("Go")).toMatchObject({ text: "Done." });

    const entries = await session.readEntries();
    const answer = entries[1]?.message;
    const calls =
      answer?.role === "assistant" ? answer.content.filter((part) => part.type === "toolCall") : [];
    expect(calls.map(({ name, arguments: given }) => [name, given])).toEqual([
      ["Add-Up", { numbers: "[1, 2]", label: 7 }],
      ["sum", '{"numbers": [3, "4"'],
      ["sum", '{numbers: [3, 4], label: "loose",'],
      ["sum", '{numbers: [3, 4], label: "loose",}'],
      ["readFile", { path: "note.txt", offset: "2", limit: null }],
      ["shell", { command: "echo from bash", why: "to see" }],
    ]);

    const [first, second, third, fourth, fifth, sixth] = (await session.readConversation()).slice(2, 8);
    expect(first).toBe("toolResult: 7: 3");
    expect(second).toBe("toolResult: sum: 7");
    expect(third).toMatch(
      /^toolResult: Invalid arguments: arguments: found JSON that is cut off.*numbers, label/,
    );
    expect(fourth).toBe("toolResult: loose: 7");
    expect(fifth).toMatch(/two[\s\S]*three/);
    expect(fifth).not.toContain("one");
    expect(sixth).toMatch(/from bash[\s\S]*\n\[Ignored: why\. The tool has no such field\.\]$/);
    expect([...seen].sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual([
      { numbers: [1, 2], label: "7" },
      { numbers: [3, 4], label: "loose" },
      { numbers: [3, 4] },
    ]);

    const details = entries.slice(2, 8).map(({ message }) => (message as { details?: unknown }).details);
    expect(details[0]).toEqual({
      recovered: ["Add-Up: read as add_up", "numbers: string read as array", "label: number read as string"],
    });
    expect(details[5]).toMatchObject({ recovered: ["shell: read as bash", "why: unknown field dropped"] });
    expect(session.listRequests()[1]?.validationError).toBeUndefined();
  },
);

test("a truncated command is never run, nor a truncated file written [RIG-07.2, PHI-13m]", async () => {
  await writeFile(join(stage.home, "kept.txt"), "kept\n");
  const session = stage.session({
    replies: [
      {
        toolCalls: [
          { name: "bash", arguments: `{"command": "rm ${stage.home}/kept.txt` },
          { name: "write_file", arguments: '{"path": "kept.txt", "content": "half of' },
        ],
      },
      // Complete by itself, but the vendor reports that the answer was cut off.
      {
        toolCalls: [{ name: "shell", arguments: `{"command": "rm ${stage.home}/kept.txt"` }],
        stop: "length",
      },
      { text: "I see." },
    ],
    agent: { tools: ["bash", "write_file"] },
  });
  expect(await session.run("Go")).toMatchObject({ text: "I see." });
  const lines = await session.readConversation();
  expect(
    lines.filter((line) => line.startsWith("toolResult: Invalid arguments: arguments: found JSON")),
  ).toHaveLength(2);
  expect(lines.filter((line) => line.startsWith("toolResult: Not run: the answer was cut off"))).toHaveLength(
    1,
  );
  expect(await readFile(join(stage.home, "kept.txt"), "utf8")).toBe("kept\n");
});

thoroughTest(
  "the third malformed call in a row is reported as such, and the run continues [RIG-07.3]",
  async () => {
    const wrong = { toolCalls: [{ name: "add_up", arguments: { numbers: "one" } }] };
    const session = stage.session({
      replies: [
        wrong,
        wrong,
        wrong,
        { toolCalls: [{ name: "add_up", arguments: { numbers: [1] } }] },
        { text: "At last." },
      ],
      agent: { tools: ["add_up"] },
    });
    expect(await session.run("Go")).toMatchObject({ text: "At last." });
    const results = (await session.readConversation()).filter((line) => line.startsWith("toolResult"));
    const said = 'toolResult: Invalid arguments: numbers: found the text "one", expected a list';
    expect(results).toEqual([
      said,
      said,
      expect.stringContaining(`${said}\nThis is the third call of add_up in a row that cannot be run`),
      "toolResult: sum: 1",
    ]);
  },
);
