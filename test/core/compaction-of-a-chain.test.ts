import { expect, test } from "vitest";
import { compactEntries } from "../../src/activities/compact/compact-entries.ts";
import { countLoopsInScope } from "../../src/conversation/compaction/scope.ts";
import { buildCompactionBlocks } from "../../src/conversation/compaction-blocks.ts";
import { materialise } from "../../src/conversation/materialise.ts";
import { toViewRanges } from "../../src/core/view/view-ranges.ts";
import { NamedRegistry } from "../../src/hooks/named-registry.ts";
import { Outages } from "../../src/models/outages.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import { createLogger } from "../../src/platform/log.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { Entry } from "../../src/schema/record.ts";
import { createViewTools } from "../../src/tools/builtin/view-tools.ts";
import { ToolRegistry } from "../../src/tools/tool-registry.ts";
import { entriesOf, loop } from "./compaction-messages.ts";

// One compaction of a chain of loops: the blocks that the record shows beside each loop, and the context that is built
// from them.

const CREATED_AT = "2026-01-01T00:00:00.000Z";
const LOOPS = ["L.1", "L.2", "L.3", "L.4"] as const;
const SCOPE = { type: "fixed", loops: 2 } as const;

/** Four loops of six turns; the compaction keeps a first and two last turns of the newest one. */
const CHAIN = entriesOf(LOOPS.flatMap((id) => loop(id, 6)));
const messagesOf = (id: string) =>
  CHAIN.map(({ message }) => message).filter(
    (message) => message.role !== "extension" && message.turnId?.loopId === id,
  );

const definition = AgentDefinition.parse({
  model: {
    id: "m",
    api: "anthropic_messages",
    provider: "p",
    baseUrl: "http://127.0.0.1:1",
    contextWindow: 200_000,
    maxTokens: 1000,
    cost: { input: 0, output: 0 },
  },
  context: { compaction: { scope: SCOPE, keepFirstTurns: 1, keepRecentTurns: 2 } },
});

async function compactChain() {
  const position = CHAIN.length;
  const { digest, entry } = await compactEntries(
    CHAIN,
    definition,
    {
      view: { branch: "main", ranges: [{ from: 0, to: position }] },
      position,
      contextTokens: CHAIN.reduce((sum, { tokens }) => sum + tokens, 0),
      reason: { type: "request" },
    },
    0,
    {
      providers: ProviderRegistry.createDefault(),
      secrets: () => undefined,
      outages: new Outages(),
      compactions: new NamedRegistry("compaction strategy", {}),
      tools: new ToolRegistry(createViewTools()),
      log: createLogger("silent"),
    },
    new AbortController().signal,
  );
  if (entry === undefined || digest.spans === undefined) throw new Error("nothing was compacted");
  const written: Entry[] = [...CHAIN, { ...entry, position, tokens: 0 }];
  return { written, spans: digest.spans, blocks: buildCompactionBlocks(written, position, CREATED_AT) };
}

test("blocks are made for the newest loop and those in scope; messages stay as they are [CMP-12]", async () => {
  const before = structuredClone(CHAIN);
  const { written, blocks } = await compactChain();
  expect([...blocks.keys()]).toEqual(["L.2", "L.3", "L.4"]);
  expect(countLoopsInScope(SCOPE, [1, 1, 1], 100)).toBe(2);
  for (const earlier of ["L.2", "L.3"]) {
    expect(Object.keys(blocks.get(earlier) ?? {}).sort()).toEqual(["createdAt", "keepCompacted"]);
    expect(blocks.get(earlier)?.keepCompacted?.range).toEqual({ startTurn: 0, endTurn: 5 });
  }
  expect(blocks.get("L.4")).toMatchObject({
    keepFirst: { startTurn: 0, endTurn: 0 },
    keepCompacted: { range: { startTurn: 1, endTurn: 3 } },
    keepRecent: { range: { startTurn: 4, endTurn: 5 } },
    createdAt: CREATED_AT,
  });
  expect(written.slice(0, -1)).toEqual(before);
});

test("the context is built from the blocks where there are any, and without the loops out of scope [CMP-12]", async () => {
  const { written, spans, blocks } = await compactChain();
  const context = LOOPS.flatMap((id): readonly AgentMessage[] => {
    const block = blocks.get(id);
    if (block === undefined) return [];
    const { keepFirst, keepCompacted, keepRecent } = block;
    const first = messagesOf(id).filter(
      (message) =>
        keepFirst !== undefined &&
        message.role !== "extension" &&
        (message.turnId?.turnIndex ?? -1) <= keepFirst.endTurn,
    );
    return [...first, ...(keepCompacted?.messages ?? []), ...(keepRecent?.messages ?? [])];
  });
  expect(materialise(toViewRanges({ branch: "main", spans }), written)).toEqual(context);
  expect(JSON.stringify(context)).not.toContain("L.1");
});

test("without its blocks a chain is the conversation as it was [CMP-01.2, CMP-12]", async () => {
  const { written } = await compactChain();
  const whole = { branch: "main", ranges: [{ from: 0, to: written.length }] };
  expect(materialise(whole, written)).toEqual(CHAIN.map(({ message }) => message));
});
