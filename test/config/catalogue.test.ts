import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { calcPrice } from "@pydantic/genai-prices";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadAgents } from "../../src/config/agent-file/load-agents.ts";
import { writeAgent } from "../../src/config/agent-file/write-agent.ts";
import { Catalogue } from "../../src/config/catalogue/catalogue.ts";
import { CatalogueError, parseUserModels, readCatalogue } from "../../src/config/catalogue/user-file.ts";
import { parseModel } from "../../src/config/parse-model.ts";
import {
  anthropic,
  azure,
  bedrock,
  google,
  openai,
  openaiResponses,
  openrouter,
  vertex,
} from "../../src/config/vendor-models.ts";
import { computeCost } from "../../src/core/budget/usage.ts";
import { describeClaudeModel } from "../../src/models/claude-model.ts";
import { describeGeminiModel } from "../../src/models/gemini/gemini-model.ts";
import { isReasoningModel } from "../../src/models/openai-models.ts";

const catalogue = new Catalogue();

describe("the built-in entries", () => {
  test("every entry has a size, prices, a source and a date; reading a cache costs no more than a fresh read", () => {
    const entries = catalogue.entries();
    expect(entries.length).toBeGreaterThan(100);
    for (const { name, contextWindow, maxTokens, cost, source, date } of entries) {
      expect(source, name).not.toBe("");
      expect(date, name).toMatch(/^2026-\d\d-\d\d$/);
      expect(cost?.input, name).toBeGreaterThan(0);
      expect(cost?.cacheRead, name).toBeLessThanOrEqual(cost?.input ?? 0);
      if (contextWindow !== undefined) expect(maxTokens ?? 1, name).toBeLessThanOrEqual(contextWindow);
    }
    expect(new Set(entries.map(({ provider }) => provider))).toEqual(
      new Set(["anthropic", "openai", "google", "bedrock", "openrouter"]),
    );
  });

  test("models have the thinking mode that their adapters derive", () => {
    for (const { provider, id, thinking } of catalogue.entries()) {
      if (provider === "anthropic") expect(thinking, id).toBe(describeClaudeModel(id).thinking);
      if (provider === "google") expect(thinking, id).toBe(describeGeminiModel({ id }).thinking?.by);
      if (provider === "openai" && id !== "gpt-5.3")
        expect(thinking !== "none", id).toBe(isReasoningModel(id));
    }
  });

  test.each([
    ["anthropic", "claude-opus-5-5", "anthropic/claude-opus-5-5"],
    ["anthropic", "claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5"],
    ["anthropic", "claude-sonnet-4-20250514", "anthropic/claude-sonnet-4-0"],
    ["openai", "gpt-5-2025-08-07", "openai/gpt-5"],
    ["azure", "gpt-6-sol", "openai/gpt-6-sol"],
    ["vertex", "publishers/google/models/gemini-3.8-flash", "google/gemini-3.8-flash"],
    ["bedrock", "us.anthropic.claude-opus-5-5", "bedrock/anthropic.claude-opus-5-5"],
    ["bedrock", "global.anthropic.claude-opus-5-5", "bedrock/global.anthropic.claude-opus-5-5"],
    ["anthropic", "claude-opus-5-6", undefined],
    ["anthropic", "claude-sonnet-5-5-1", undefined],
    ["local", "gpt-5", undefined],
  ])("%s/%s is %s", (provider, id, name) => {
    expect(catalogue.find(provider, id)?.name).toBe(name);
  });
});

describe("a model by its name", () => {
  test("takes size, prices and thinking from the catalogue", () => {
    const model = parseModel("anthropic/claude-opus-5-5", {}, catalogue);
    expect(model).toEqual({
      ...anthropic("claude-opus-5-5"),
      contextWindow: 1_000_000,
      maxTokens: 128_000,
      cost: { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5 },
    });
    expect(parseModel("openai/gpt-4.1", {}, catalogue).reasoning).toBe(false);
    expect(parseModel("openai-responses/gpt-6-sol", {}, catalogue)).toEqual({
      ...openaiResponses("gpt-6-sol"),
      contextWindow: 1_050_000,
      maxTokens: 128_000,
      cost: {
        ...{ input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
        dearer: { above: 272_000, input: 4, output: 15, cacheRead: 0.4, cacheWrite: 5 },
      },
    });
    const usage = { input: 1e6, output: 0, reasoning: 0, cacheRead: 1e6, cacheWrite: 1e6, totalTokens: 3e6 };
    expect(computeCost(usage, model.cost)).toBeCloseTo(9.2);
  });

  test("is overridden by stated values, a zero too", () => {
    const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const said = { contextWindow: 10, maxTokens: 5, cost: free, reasoning: false };
    expect(parseModel("anthropic/claude-opus-5-5", said, catalogue)).toMatchObject(said);
  });

  test("has its vendor's defaults if it is unknown [PROV-03.1-2]", () => {
    expect(parseModel("anthropic/claude-x", {}, catalogue)).toEqual(anthropic("claude-x"));
    expect(anthropic("claude-x")).toMatchObject({ contextWindow: 200_000, maxTokens: 8192 });
    expect(parseModel("openai/x", {}, catalogue)).toEqual(openai("x"));
    expect(openai("x").contextWindow).toBe(128_000);
    expect(openai("x").cost).toBeNull();
  });

  test("is the same from a factory as from its name: prices, window and the length of answers", () => {
    const at = { baseUrl: "http://127.0.0.1:1" };
    for (const [made, name] of [
      [anthropic("claude-sonnet-5-5"), "anthropic/claude-sonnet-5-5"],
      [anthropic("claude-opus-5-5", at), "anthropic/claude-opus-5-5"],
      [openai("gpt-6-sol"), "openai/gpt-6-sol"],
      [openaiResponses("gpt-6-sol"), "openai-responses/gpt-6-sol"],
      [google("gemini-2.5-pro"), "google/gemini-2.5-pro"],
      [
        bedrock("us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      ],
      [openrouter("anthropic/claude-sonnet-4.5"), "openrouter/anthropic/claude-sonnet-4.5"],
      [vertex("gemini-2.5-pro", at), "vertex/gemini-2.5-pro"],
      [azure("gpt-4.1", at), "azure/gpt-4.1"],
    ] as const) {
      const { baseUrl } = made;
      expect(made, name).toEqual(parseModel(name, { baseUrl }));
      expect(made.cost?.input, name).toBeGreaterThan(0);
    }
    expect(anthropic("claude-opus-5-5", { maxTokens: 5 })).toMatchObject({
      maxTokens: 5,
      contextWindow: 1_000_000,
    });
  });
});

describe("a long request", () => {
  const usage = (input: number, cacheRead = 0, cacheWrite = 0) => {
    return { input, output: 1e6, reasoning: 0, cacheRead, cacheWrite, totalTokens: 0 };
  };

  test.each([
    ["anthropic/claude-sonnet-4-5", [200_000, 3, 15], [6, 22.5, 0.6, 7.5]],
    ["anthropic/claude-haiku-5-5", [100_000, 0.1, 0.5], [0.5, 2.5, 0.05, 0.625]],
    ["google/gemini-2.5-pro", [200_000, 1.25, 10], [2.5, 15, 0.25, 2.5]],
    ["openai/gpt-6.2-sol", [272_000, 2, 10], [4, 15, 0.2, 5]],
    ["azure/gpt-6-sol", [272_000, 2, 10], [4, 15, 0.4, 5]],
  ])(
    "is billed at %s's higher prices, together with its answer [TYP-09.2]",
    (name, [above, usual, out], dearer) => {
      const { cost } = parseModel(
        name.startsWith("azure") ? `${name}@https://x.openai.azure.com` : name,
        {},
        catalogue,
      );
      const [input = 0, output = 0, read = 0, write = 0] = dearer;
      const millions = above! / 1e6;
      expect(computeCost(usage(above!), cost)).toBeCloseTo(millions * usual! + out!, 9);
      expect(computeCost(usage(above! + 1), cost)).toBeCloseTo((millions + 1e-6) * input + output, 9);
      // Tokens that are read from a cache or written to it count towards a long request, too.
      expect(computeCost(usage(1, above! - 1, 1), cost)).toBeCloseTo(
        1e-6 * input + (millions - 1e-6) * read + 1e-6 * write + output,
        9,
      );
    },
  );

  test("costs what the price list states, just below and just above each size [TYP-09.2]", () => {
    const listed = catalogue
      .entries()
      .filter(({ cost, source }) => cost?.dearer && source.includes("genai-prices"));
    const own = listed.filter(({ provider }) => ["anthropic", "openai", "google"].includes(provider));
    expect(own.length).toBeGreaterThan(10);
    for (const { provider, id, cost } of own) {
      for (const asked of [cost!.dearer!.above - 1, cost!.dearer!.above + 1]) {
        const said = { input_tokens: asked, cache_read_tokens: 1000, output_tokens: 500 };
        const timestamp = new Date("2026-11-22T12:00:00Z");
        const theirs = calcPrice(said, id, { providerId: provider, timestamp })?.total_price;
        const ours = computeCost({ ...usage(asked - 1000, 1000), output: 500 }, cost!);
        expect(ours, `${provider}/${id} ${asked}`).toBeCloseTo(theirs ?? Number.NaN, 9);
      }
    }
  });

  test("counts by itself when one answer took several", () => {
    const { cost } = parseModel("anthropic/claude-sonnet-4-5", {}, catalogue);
    const sum = usage(300_000);
    expect(computeCost(sum, cost, 150_001)).toBeCloseTo(0.9 + 15, 9);
    expect(computeCost(sum, cost, 200_001)).toBeCloseTo(1.8 + 22.5, 9);
  });
});

describe("a user's own file", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-models-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test("adds models and overrides those that exist", async () => {
    const file = join(folder, "models.toml");
    await writeFile(
      file,
      `[models."anthropic/claude-opus-5-5"]
max_tokens = 7
cost = { input_per_million = 3, output_per_million = 9, dearer = { above = 5, input_per_million = 4, output_per_million = 10 } }
[models."local/mine"]
context_window = 32768
thinking = "none"
[models."azure/prod"]
context_window = 5
`,
    );
    for (const env of [{ HOLDFAST_MODELS: file }, { HOLDFAST_HOME: folder }]) {
      const own = readCatalogue(env);
      expect(parseModel("anthropic/claude-opus-5-5", {}, own)).toMatchObject({
        contextWindow: 1_000_000,
        maxTokens: 7,
        cost: {
          ...{ input: 3, output: 9, cacheRead: 3, cacheWrite: 3 },
          dearer: { above: 5, input: 4, output: 10, cacheRead: 4, cacheWrite: 4 },
        },
      });
      expect(parseModel("local/mine@http://127.0.0.1:1/v1", {}, own).contextWindow).toBe(32_768);
      expect(own.find("azure", "prod")).toMatchObject({ contextWindow: 5, source: file });
    }
  });

  test("may be absent, unless it was named", () => {
    expect(readCatalogue({ HOLDFAST_HOME: folder }).entries()).toEqual(catalogue.entries());
    const named = join(folder, "none.toml");
    expect(() => readCatalogue({ HOLDFAST_MODELS: named })).toThrow(
      `${named} cannot be read: there is no such file`,
    );
  });

  test.each([
    ["models = 1", "models"],
    ['[models."claude"]\nmax_tokens = 1', "anthropic/ID"],
    ['[models."a/b"]\nmax_tokens = 0', "models.a/b.max_tokens"],
    ['[models."a/b"]\nmax_token = 1', "max_token"],
    ["[models", "is not valid TOML"],
  ])("that is invalid is rejected with the location: %j", (text, said) => {
    expect(() => parseUserModels(text, "models.toml")).toThrow(CatalogueError);
    expect(() => parseUserModels(text, "models.toml")).toThrow(said);
  });
});

describe("an agent file", () => {
  const load = (provider: string, more: { unknownModels?: "doubted" } = {}) =>
    loadAgents(`[provider]\napi_key = "\${KEY}"\n${provider}\n`, {
      name: "agent.toml",
      env: {},
      cwd: "/tmp",
      readFile: () => "",
      ...more,
    });

  test("takes missing values from the catalogue and records the source", () => {
    const { agents } = load('model = "claude-opus-5-5"\nmax_tokens = 99');
    expect(agents[0]?.definition.model).toMatchObject({
      contextWindow: 1_000_000,
      maxTokens: 99,
      reasoning: true,
      cost: { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5 },
    });
    expect(agents[0]?.resolvedValues.find(({ path }) => path === "model.contextWindow")).toMatchObject({
      from: "default",
      note: expect.stringContaining("from the catalogue"),
    });
  });

  test("with its own rates has no others", () => {
    const { agents } = load('model = "claude-opus-5-5"\n[provider.cost]\ninput_per_million = 1');
    expect(agents[0]?.definition.model.cost).toEqual({ input: 1, output: 0, cacheRead: 0, cacheWrite: 0 });
  });

  test("states the price of a long request as a whole", () => {
    const rates = "input_per_million = 6\noutput_per_million = 22.5\ncache_read_per_million = 0.6\n";
    const dearer = `[provider.cost.dearer]\nabove = 200000\n${rates}`;
    const { agents } = load(`model = "claude-x"\n${dearer}cache_write_per_million = 7.5`);
    expect(agents[0]?.definition.model.cost?.dearer).toEqual({
      ...{ above: 200_000, input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5 },
    });
    const { problems } = load(`model = "claude-x"\n${dearer}`);
    expect(problems).toMatchObject([
      {
        severity: "error",
        field: "provider.cost.dearer",
        message: expect.stringMatching(/add cache_write_per_million$/),
      },
    ]);
  });

  test("with an unknown model causes a warning where that is requested", () => {
    expect(load('model = "claude-x"').problems).toEqual([]);
    const { agents, problems } = load('model = "claude-x"', { unknownModels: "doubted" });
    expect(agents[0]?.definition.model).toMatchObject({ contextWindow: 200_000, maxTokens: 8192 });
    expect(problems).toMatchObject([
      {
        severity: "warning",
        field: "provider.model",
        message: expect.stringMatching(
          /claude-x is not in the catalogue.*200,000.*8,192.*prices are unknown/,
        ),
      },
    ]);
    const said = 'model = "claude-x"\ncontext_window = 1000\nmax_tokens = 10';
    expect(load(said, { unknownModels: "doubted" }).problems).toEqual([]);
  });

  test("that is written from a definition has the same meaning with any catalogue", () => {
    const { agents } = load(
      'model = "claude-opus-5-5"\nmax_tokens = 8192\nreasoning = false\ncontext_window = 200000',
    );
    const model = agents[0]!.definition.model;
    for (const cost of [{ ...model.cost!, input: 0 }, null]) {
      const other = { ...agents[0]!.definition, model: { ...model, cost } };
      const again = loadAgents(writeAgent(other, "toml"), {
        name: "agent.toml",
        env: {},
        cwd: "/tmp",
        readFile: () => "",
      });
      expect(again.agents[0]?.definition).toEqual(other);
    }
  });
});
