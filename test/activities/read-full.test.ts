import { expect, test } from "vitest";
import { answerViewCall } from "../../src/activities/tool/view-call.ts";
import type { Span } from "../../src/core/view/view.ts";
import { createReadFullMessageTool } from "../../src/tools/builtin/read-full-message-tool.ts";
import { toToolDefinition } from "../../src/tools/tool.ts";
import { answer, entriesOf, extension, result, user } from "../core/compaction-messages.ts";

const LONG = Array.from({ length: 4000 }, (_, index) => `😀${index}`).join(" ");
const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" as const };
const FILE = {
  type: "file" as const,
  mimeType: "text/plain",
  name: "a.txt",
  data: Buffer.from("line of a file\n".repeat(1000)).toString("base64"),
};
const ENTRIES = entriesOf([
  {
    ...(user("") as never as object),
    role: "user",
    content: [{ type: "text", text: LONG }, image, FILE],
    timestamp: 0,
  } as never,
  answer("I look.", ["a"]),
  result("a", "short"),
  extension("own"),
  user("gone"),
]);

function read(
  args: Record<string, unknown>,
  spans: readonly Span[] = [{ from: 0, to: 4, turns: 1, tokens: 50_000 }],
) {
  const call = { type: "toolCall" as const, id: "r", name: "read_full_message", arguments: args };
  const view = { branch: "main", spans };
  const asked = { tool: createReadFullMessageTool(), call, original: call, answer: 5, entries: ENTRIES };
  const { output, isError } = answerViewCall({ ...asked, toolView: { view, loopFrom: 0 } });
  return {
    isError,
    content: output.content,
    text: output.content.map((part) => (part.type === "text" ? part.text : "")).join(""),
  };
}

test("the model reads a whole message in chunks, each of which names the next", () => {
  let from: number | undefined = 0;
  let whole = "";
  let calls = 0;
  while (from !== undefined) {
    const { text, isError } = read({ message: 0, from });
    expect(isError).toBe(false);
    const end = text.lastIndexOf("\n\n[Characters ");
    whole += text.slice(0, end);
    const next = /call read_full_message with \{"message": 0, "from": (\d+)\}/.exec(text.slice(end));
    from = next === null ? undefined : Number(next[1]);
    calls += 1;
  }
  expect(whole).toBe(LONG);
  expect(calls).toBe(Math.ceil(LONG.length / 8000));
});

test("a small context gets small chunks", () => {
  const spans = [{ from: 0, to: 4, turns: 1, tokens: 900 }];
  expect(read({ message: 0 }, spans).text).toContain("[Characters 0 to 900 of ");
});

test("an answer is read with its calls, and a message with its image", () => {
  expect(read({ message: 1 }).text).toContain('[Your answer] I look.\n[Called read] {"id":"a"}');
  expect(read({ message: 0, image: 1 }).content).toEqual([image]);
});

test.each([
  [{ message: 3 }, "Your context has no message 3: use the number in the marker."],
  [{ message: 4 }, "Your context has no message 4: use the number in the marker."],
  [{ message: 99 }, "Your context has no message 99: use the number in the marker."],
  [{ message: 2, from: 5 }, "Message 2 has only 5 characters."],
  [{ message: 2, image: 0 }, "Message 2 has no image 0."],
])("a message outside the view is not read: %j", (args, text) => {
  expect(read(args)).toMatchObject({ isError: true, text });
});

test("the parameters that the model sees match what is parsed", () => {
  const { parameters } = toToolDefinition(createReadFullMessageTool()) as unknown as {
    parameters: { properties: object; required: string[] };
  };
  expect(Object.keys(parameters.properties)).toEqual(["message", "from", "image"]);
  expect(parameters.required).toEqual(["message"]);
  expect(createReadFullMessageTool().parse({ message: -1 })).toMatchObject({ ok: false });
  expect(createReadFullMessageTool().parse({ message: 1, from: 2, image: 0 })).toMatchObject({ ok: true });
});

test("the model reads a text file in chunks, and sees an image again", () => {
  const first = read({ message: 0, image: 2 });
  expect(first.isError).toBe(false);
  expect(first.text).toContain(
    'To continue, call read_full_message with {"message": 0, "image": 2, "from": 8000}.',
  );
  const last = read({ message: 0, image: 2, from: 8000 });
  expect(last.text).toContain(
    "[Characters 8000 to 15000 of 15000 of file a.txt. This is the end of the file.]",
  );
  expect(read({ message: 0, image: 1 }).content).toEqual([image]);
});
