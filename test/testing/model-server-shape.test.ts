import { describe, expect, test } from "vitest";
import { getRecording } from "../support/recordings.ts";
import { createAnthropicRequest, createOpenAiRequest, startServer } from "./vendor-clients.ts";

// Our events must have all fields of the vendors' recorded ones, with the vendor's types.

const readStream = (name: string) => getRecording(name).bytes.toString("utf8");

type Json = Record<string, unknown>;

function eventsOf(stream: string): Json[] {
  return stream
    .split("\n")
    .filter((line) => line.startsWith("data: ") && line !== "data: [DONE]")
    .map((line) => JSON.parse(line.slice("data: ".length)) as Json);
}

/** Fields with their types, such as `delta.text:string`; the elements of a list count as one. */
function fields(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fields(item, `${path}[]`));
  if (typeof value !== "object" || value === null)
    return [`${path}:${value === null ? "null" : typeof value}`];
  return Object.entries(value).flatMap(([key, inner]) => fields(inner, path === "" ? key : `${path}.${key}`));
}

function fieldsByKind(stream: string, kind: (event: Json) => string): Map<string, Set<string>> {
  const kinds = new Map<string, Set<string>>();
  for (const event of eventsOf(stream)) {
    const known = kinds.get(kind(event)) ?? new Set();
    for (const field of fields(event)) known.add(field);
    kinds.set(kind(event), known);
  }
  return kinds;
}

const anthropicKind = (event: Json) =>
  `${event["type"]} ${(event["delta"] as Json | undefined)?.["type"] ?? (event["content_block"] as Json | undefined)?.["type"] ?? ""}`;
const openaiKind = (event: Json) => {
  const [choice] = event["choices"] as { delta: Json }[];
  return choice === undefined ? "usage" : Object.keys(choice.delta).join();
};

async function streamed(path: string, body: unknown): Promise<string> {
  const reply = {
    thinking: path.includes("messages") ? "hm" : undefined,
    text: "hi",
    usage: { reasoning: 0 },
  };
  const call = { name: "get_country", arguments: {} };
  const server = await startServer({
    conversations: [{ match: "tools", replies: [{ toolCalls: [call] }] }, { replies: [reply] }],
  });
  const answer = await fetch(server.url + path, {
    method: "POST",
    headers: { "anthropic-version": "2023-06-01" },
    body: JSON.stringify(body),
  });
  return answer.text();
}

describe("the fields of recorded streams", () => {
  test("Anthropic", async () => {
    const theirs = fieldsByKind(readStream("test_anthropic_model_thinking_part_stream_0.sse"), anthropicKind);
    const ours = fieldsByKind(
      await streamed("/v1/messages", { ...createAnthropicRequest(), stream: true }),
      anthropicKind,
    );
    for (const [kind, expected] of theirs) {
      expect([...(ours.get(kind) ?? [])], kind).toEqual(expect.arrayContaining([...expected]));
    }
    expect([...ours.keys()]).toEqual([...theirs.keys()]);
  });

  const replies = [
    ["hello", "test_temporal_agent_iter_0.sse"],
    ["tools", "test_complex_agent_run_0.sse"],
  ] as const;
  test.each(replies)("OpenAI: %s", async (text, file) => {
    const theirs = fieldsByKind(readStream(file), openaiKind);
    const ask = { ...createOpenAiRequest(text), stream: true, stream_options: { include_usage: true } };
    const ours = fieldsByKind(await streamed("/v1/chat/completions", ask), openaiKind);
    expect([...ours.keys()]).toEqual([...theirs.keys()]);
    for (const [kind, expected] of theirs)
      expect([...ours.get(kind)!].sort(), kind).toEqual([...expected].sort());
  });
});
