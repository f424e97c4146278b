import { mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadInThread } from "../../src/tools/sources/openapi/load-in-thread.ts";
import { createDocument, createSettings, parseDocument, startApi } from "./sample-api.ts";

const get = (parameters: object) => ({ "/x": { get: { operationId: "x", ...parameters } } });

describe("documents that cannot be read completely", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-openapi-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const never = new AbortController().signal;
  const reading = async (name: string, text: string, more: object = {}) => {
    await writeFile(join(folder, name), text);
    return await loadInThread(createSettings({ spec: name, ...more }), folder, never);
  };

  test("a document of 50 MB is not read at all", async () => {
    const file = join(folder, "large.json");
    await writeFile(file, "{");
    await truncate(file, 50 * 1024 * 1024);
    const before = process.memoryUsage().rss;
    const begun = performance.now();
    await expect(loadInThread(createSettings({ spec: file }), folder, never)).rejects.toThrow(
      /large\.json has more than 33554432 bytes: it was not read/,
    );
    expect(performance.now() - begun).toBeLessThan(5000);
    expect(process.memoryUsage().rss - before).toBeLessThan(40 * 1024 * 1024);
  });

  test("a document is read from a file, and from an address [OAPI-01.1-2]", async () => {
    const text = JSON.stringify(createDocument({ "/x": { get: { operationId: "x" } } }));
    const api = await startApi((_, response) => response.end(text));
    const there = await loadInThread(createSettings({ spec: `${api.url}/api.json` }), folder, never);
    expect(there.tools.map(({ remote }) => remote)).toEqual(["x"]);
    expect(api.seen).toMatchObject([{ method: "GET", url: "/api.json" }]);
    expect((await reading("small.json", text)).tools.map(({ remote }) => remote)).toEqual(["x"]);
    await api.close();
  });

  test("a download that never ends is abandoned", async () => {
    const api = await startApi((_, response) => {
      const more = () => {
        while (response.write("x".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    });
    await expect(
      loadInThread(
        createSettings({ spec: `${api.url}/api.json`, limits: { maxDocumentBytes: 1_000_000 } }),
        folder,
        never,
      ),
    ).rejects.toThrow(/has more than 1000000 bytes/);
    await api.close();
  });

  test("the time limit expires while the worker continues: nothing else waits for the document", async () => {
    const api = await startApi(() => undefined);
    let ticks = 0;
    const clock = setInterval(() => {
      ticks += 1;
    }, 10);
    await expect(
      loadInThread(createSettings({ spec: api.url, limits: { readTimeoutMs: 400 } }), folder, never),
    ).rejects.toThrow(/it took more than 400 ms/);
    clearInterval(clock);
    expect(ticks).toBeGreaterThan(10);
    await api.close();
  });

  test("aliases that double at each line are rejected, as a list and as objects", async () => {
    const doubling = Array.from(
      { length: 40 },
      (_, index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]`,
    );
    await expect(reading("bomb.yaml", `a0: &a0 [x]\n${doubling.join("\n")}\n`)).rejects.toThrow(
      /is not valid YAML: Excessive alias count/,
    );
  });

  test("endlessly nested objects are rejected, in JSON and in YAML", async () => {
    const deep = `{"openapi":"3.0.0","x":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`;
    await expect(reading("deep.json", deep)).rejects.toThrow(/more than 200 nested objects/);
    await expect(reading("deep.yaml", `openapi: 3.0.0\nx: ${"[".repeat(5000)}`)).rejects.toThrow(
      /deep\.yaml/,
    );
  });

  test("more references than allowed are rejected", async () => {
    const many = createDocument({}, { "x-many": Array.from({ length: 11 }, () => ({ $ref: "#/info" })) });
    await expect(
      reading("many.json", JSON.stringify(many), { limits: { maxReferences: 10 } }),
    ).rejects.toThrow(/more than 10 references/);
  });

  test("a reference does not leave the document's folder, nor by a link, nor reach the worker's network", async () => {
    const outside = join(folder, "..", `outside-${process.pid}.json`);
    await writeFile(outside, '{"type":"string"}');
    await symlink(outside, join(folder, "link.json"));
    const api = await startApi((_, response) => response.end('{"type":"string"}'));
    const document = (reference: string) =>
      JSON.stringify(
        createDocument(get({ parameters: [{ in: "query", name: "q", schema: { $ref: reference } }] })),
      );
    for (const [reference, why] of [
      [`../outside-${process.pid}.json`, /which is not below/],
      ["link.json", /which is not below/],
      [`${api.url}/q.json`, /not on the public network/],
    ] as const) {
      await expect(reading("refers.json", document(reference), { allowRemoteRefs: true })).rejects.toThrow(
        why,
      );
    }
    expect(api.seen).toEqual([]);
    await api.close();
    await rm(outside);
  });

  test("other documents are included where that is allowed; otherwise the operations that need them are skipped", async () => {
    await writeFile(
      join(folder, "part.yaml"),
      "Color:\n  type: string\n  enum: [red]\nPair:\n  type: array\n  items: { $ref: '#/Color' }\n",
    );
    const text = JSON.stringify(
      createDocument({
        ...get({ parameters: [{ in: "query", name: "q", schema: { $ref: "part.yaml#/Pair" } }] }),
        "/y": { get: { operationId: "y" } },
      }),
    );
    const { tools } = await reading("whole.json", text, { allowRemoteRefs: true });
    expect(tools[0]?.parameters["properties"]).toEqual({
      q: { type: "array", items: { type: "string", enum: ["red"] } },
    });
    const without = await reading("whole.json", text);
    expect(without.tools.map(({ remote }) => remote)).toEqual(["y"]);
    expect(without.warnings).toEqual([
      "openapi api: skipped x: part.yaml#/Pair is in another document, and allowRemoteRefs is false",
    ]);
  });
});

describe("schemas that grow", () => {
  test("a recursive schema is described once and referred to by name where it recurs", async () => {
    const { tools } = await parseDocument(
      createDocument(
        {
          "/x": {
            post: {
              operationId: "x",
              requestBody: {
                content: { "application/json": { schema: { $ref: "#/components/schemas/Node" } } },
              },
            },
          },
        },
        {
          components: {
            schemas: {
              Node: {
                type: "object",
                properties: {
                  name: { type: "string" },
                  children: { type: "array", items: { $ref: "#/components/schemas/Node" } },
                },
              },
            },
          },
        },
      ),
    );
    expect((tools[0]!.parameters["properties"] as { body: unknown }).body).toEqual({
      type: "object",
      properties: {
        name: { type: "string" },
        children: { type: "array", items: { type: "object", description: "Again: Node." } },
      },
    });
  });

  test("references that double at each step end early and small", async () => {
    const schemas: Record<string, object> = { s0: { type: "string" } };
    for (let index = 1; index <= 60; index += 1) {
      const $ref = `#/components/schemas/s${index - 1}`;
      schemas[`s${index}`] = { type: "object", properties: { a: { $ref }, b: { $ref } } };
    }
    const { tools, warnings } = await parseDocument(
      createDocument(
        get({ parameters: [{ in: "query", name: "q", schema: { $ref: "#/components/schemas/s60" } }] }),
        { components: { schemas } },
      ),
    );
    // Two to the power of sixty would exceed the test's time limit.
    expect(JSON.stringify(tools[0]?.parameters).length).toBeLessThanOrEqual(32_768);
    expect(warnings).toEqual([
      "openapi api: x: the schema of its parameters is too large: its deepest parts were removed",
    ]);
  });

  test("a wide schema is also cut, or skipped, quickly", async () => {
    const list = <Item>(length: number, item: (index: number) => Item) =>
      Array.from({ length }, (_, n) => item(n));
    const inQuery = (name: string, schema: object) => ({ in: "query", name, schema });
    const { tools, skipped } = await parseDocument(
      createDocument({
        "/choice": {
          get: {
            operationId: "choice",
            parameters: [inQuery("q", { type: "string", enum: list(100_000, (n) => `word ${n}`) })],
          },
        },
        "/broad": {
          get: {
            operationId: "broad",
            parameters: list(400, (n) => inQuery(`${"x".repeat(60)}${n}`, { type: "string" })),
          },
        },
        "/many": {
          get: {
            operationId: "many",
            parameters: list(20_000, (n) => inQuery(`${"é".repeat(80)}${n}`, {})),
          },
        },
      }),
    );
    expect(tools.map(({ remote, parameters }) => [remote, parameters["properties"]])).toEqual([
      ["choice", { q: { type: "string" } }],
    ]);
    expect(skipped.map(({ id, reason }) => [id, reason])).toEqual([
      ["broad", "the schema of its parameters needs more than 32768 bytes"],
      ["many", "it has more than 500 parameters"],
    ]);
  });

  test("invisible characters do not reach a model", async () => {
    const hidden = "Reads\u001b[2J it.\u{E0041}\u202E";
    const { tools } = await parseDocument(
      createDocument({
        "/x": {
          get: {
            operationId: "x",
            summary: hidden,
            description: hidden,
            parameters: [{ in: "query", name: "q", description: hidden, schema: { description: hidden } }],
          },
        },
      }),
    );
    const [tool] = tools;
    expect(tool?.description).toBe("Reads[2J it.");
    expect(tool?.data).toMatchObject({ label: "Reads[2J it." });
    expect(tool?.parameters["properties"]).toEqual({ q: { description: "Reads[2J it." } });
  });

  test("references in a circle without anything between them skip their operation", async () => {
    const a = { $ref: "#/components/schemas/b" };
    const b = { $ref: "#/components/schemas/a" };
    const { tools, skipped } = await parseDocument(
      createDocument(
        {
          ...get({ parameters: [{ in: "query", name: "q", schema: a }] }),
          "/y": { get: { operationId: "y" } },
        },
        { components: { schemas: { a, b } } },
      ),
    );
    expect(tools.map(({ remote }) => remote)).toContain("y");
    expect(JSON.stringify([tools, skipped]).length).toBeLessThan(3000);
  });
});

describe("a document that is not OpenAPI 3.0 or 3.1 [OAPI-09]", () => {
  test.each([
    ["", /is empty/],
    ["{", /is not valid JSON/],
    ["[]", /a list or a scalar/],
    ["just words", /a list or a scalar/],
    ["a: b: c", /is not valid YAML: .*[^:]$/],
    ['{"swagger":"2.0"}', /is Swagger 2\.0; versions 3\.0 and 3\.1 are supported/],
    ['{"openapi":"4.0.0"}', /is OpenAPI 4\.0\.0/],
    ['{"info":{}}', /its key `openapi` is missing/],
  ])("%j [OAPI-01.4]", async (text, why) => {
    await expect(parseDocument(text)).rejects.toThrow(why);
  });
});
