import { expect, test } from "vitest";
import { type Provider, ProviderError } from "../../src/worker.ts";
import { openTestEnvironment } from "./support/test-environment.ts";

const usage = { input: 3, output: 2, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 5 };

/** Repeats the message that it receives, after one call of a tool; busy at first. */
function echo() {
  const asked: string[] = [];
  const provider: Provider = {
    id: "echo",
    protocol: "custom_echo",
    async stream({ model, apiKey, messages, tools }, { onDelta }) {
      const last = messages.at(-1);
      asked.push(`${last?.role} ${apiKey?.length} ${tools.map(({ name }) => name)}`);
      if (asked.length === 1) throw new ProviderError("rate-limited", "echo is busy", { retryAfterMs: 1 });
      const said = last?.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("") ?? "";
      const text = { type: "text" as const, text: `You said: ${said.trim()}` };
      const call = { type: "toolCall" as const, id: "c1", name: "list_files", arguments: {} };
      const isFirst = last?.role === "user";
      onDelta?.({ type: "text", index: 0, delta: text.text });
      return {
        role: "assistant",
        content: isFirst ? [call] : [text],
        stopReason: isFirst ? "toolUse" : "stop",
        model: model.id,
        provider: model.provider,
        usage,
        timestamp: Date.now(),
      };
    },
  };
  return { asked, provider };
}

test("an application's own vendor is one small object, under a protocol of its own [PROV-05.3, PROV-28]", async () => {
  const { asked, provider } = echo();
  const stage = await openTestEnvironment({ registered: { providers: [provider] } });
  try {
    const session = stage.session({
      agent: {
        tools: ["list_files"],
        model: { api: "custom_echo", provider: "echo", cost: { input: 1_000_000, output: 0 } },
      },
    });
    await session.start("Hello");
    const result = await session.readResult();
    expect(result.text).toContain("You said: ");
    const [loop] = await stage.transcript.readLoops(session.id);
    expect(loop).toMatchObject({ usage: { input: 6, output: 4 }, costUsd: 6 });
    expect(asked).toHaveLength(3);
    expect(asked.at(-1)).toMatch(/^toolResult \d+ list_files$/);
    expect(stage.model.requests).toEqual([]);
  } finally {
    await stage.close();
  }
});
