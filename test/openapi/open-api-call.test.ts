import { gzipSync } from "node:zlib";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { isPrivateHost, lookupPublic } from "../../src/platform/network/public-address.ts";
import type { OpenApiSettingsInput } from "../../src/schema/openapi.ts";
import { PDF } from "../support/media.ts";
import { buildTools, callTool, createDocument, getText, parseDocument, startApi } from "./sample-api.ts";

const api = await startApi();
afterAll(api.close);
afterEach(() => {
  api.seen.length = 0;
  api.answer((_, response) => response.end("ok"));
});

const PATHS = {
  "/pets/{petId}": {
    parameters: [{ in: "path", name: "petId", required: true, schema: { type: "string" } }],
    get: {
      operationId: "getPet",
      parameters: [
        { in: "query", name: "filter[name]", schema: { type: "string" } },
        { in: "query", name: "spread", schema: { type: "object" } },
        { in: "header", name: "X-Trace", schema: { type: "string" } },
        { in: "cookie", name: "session", schema: { type: "string" } },
        { in: "header", name: "Authorization", schema: { type: "string" } },
        { in: "header", name: "Host", schema: { type: "string" } },
        { in: "query", name: "key", schema: { type: "string" } },
      ],
    },
    put: {
      operationId: "putPet",
      requestBody: { required: true, content: { "application/json": { schema: { type: "object" } } } },
    },
    delete: { operationId: "deletePet" },
  },
  "/pets": {
    post: {
      operationId: "addPet",
      parameters: [{ in: "query", name: "body", schema: { type: "string" } }],
      requestBody: {
        content: {
          "application/x-www-form-urlencoded": {
            schema: { type: "object" },
            encoding: { meta: { style: "deepObject", explode: true } },
          },
        },
      },
    },
  },
};
const PNG = Buffer.from("89504e470d0a1a0a", "hex");
const tools = async (more: Partial<OpenApiSettingsInput> = {}) => {
  const made = await buildTools(PATHS, { baseUrl: `${api.url}/v1/`, ...more });
  return (remote: string) => made.find((one) => one.remote === remote);
};

describe("arguments", () => {
  test.each([
    ["a list", [], "Error: params must be an object"],
    ["a word", "no", "Error: params must be an object"],
    ["null", null, "Error: missing required path param 'petId'"],
    ["nothing for the path", { petId: null }, "Error: missing required path param 'petId'"],
    ["an empty path", { petId: "" }, "Error: path param 'petId' must not be empty"],
  ])("%s is reported in an ordinary result, and nothing is sent [OAPI-08.1]", async (_, values, said) => {
    expect(getText(await callTool((await tools())("getPet"), values))).toBe(said);
    expect(api.seen).toEqual([]);
  });

  test("are sent where they belong; cookies and the request's own headers cannot be set by the model [OAPI-06.1-2]", async () => {
    const tool = (await tools())("getPet");
    expect(Object.keys(tool?.parameters["properties"] as object)).toEqual([
      "petId",
      "filter_name_",
      "spread",
      "X-Trace",
      "key",
    ]);
    await callTool(tool, {
      petId: "a/b?c#d",
      filter_name_: "x&y=z",
      "X-Trace": "t",
      unknown: 1,
      session: "s",
    });
    expect(api.seen).toMatchObject([
      { url: "/v1/pets/a%2Fb%3Fc%23d?filter%5Bname%5D=x%26y%3Dz", headers: { "x-trace": "t" }, body: "" },
    ]);
    expect(api.seen[0]?.headers["cookie"]).toBeUndefined();
  });

  test("include parameters with the name of a built-in property of objects [OAPI-06.1-2]", async () => {
    const names = ["constructor", "toString", "__proto__"];
    const parameters = names.map((name) => ({ in: "query", name, schema: { type: "string" } }));
    const [query, path] = await buildTools(
      {
        "/x": { get: { operationId: "x", parameters } },
        "/teams/{constructor}": { get: { operationId: "y" } },
      },
      { baseUrl: api.url },
    );
    expect(Object.keys(query?.parameters["properties"] as object)).toEqual(names);
    await callTool(query, {});
    await callTool(query, JSON.parse('{"constructor":"a","toString":"b","__proto__":"c"}'));
    expect(api.seen.map(({ url }) => url)).toEqual(["/x", "/x?constructor=a&toString=b&__proto__=c"]);
    expect(getText(await callTool(path, {}))).toBe("Error: missing required path param 'constructor'");
  });

  test("include a body, as JSON or a form, under another key if a parameter has its name [OAPI-02.3, OAPI-06.3]", async () => {
    const tool = await tools();
    await callTool(tool("putPet"), { petId: "1", body: { name: "Bo" } });
    await callTool(tool("addPet"), {
      body: "q",
      _request_body: { a: "x y", tags: ["1", "2"], meta: { k: "&" } },
    });
    expect(api.seen).toMatchObject([
      { method: "PUT", headers: { "content-type": "application/json" }, body: '{"name":"Bo"}' },
      {
        url: "/v1/pets?body=q",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: "a=x%20y&tags=1&tags=2&meta%5Bk%5D=%26",
      },
    ]);
  });
});

describe("a request keeps its destination", () => {
  test.each([
    "..",
    ".",
    "../admin",
    "a/../../b",
    "..\\x",
    "%2e%2e",
    "%252e%252e/x",
    "..;",
    "a/..;b/c",
    ".;x",
    "%2e%2e%3b",
    "a\u0000b",
    "a\r\nb",
    ".",
  ])("a path with %j is not sent", async (petId) => {
    expect(getText(await callTool((await tools())("deletePet"), { petId }))).toMatch(
      /^Error: path param 'petId'/,
    );
    expect(api.seen).toEqual([]);
  });

  test.each(["//evil.example", "@evil.example", "a:80@evil", "...", "x..y", "#", "?q=1", ";a=b", "🐕"])(
    "a path with %j stays one part of it",
    async (petId) => {
      await callTool((await tools())("deletePet"), { petId });
      expect(api.seen.map(({ url }) => url)).toEqual([
        `/v1/pets/${encodeURIComponent(petId).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`,
      ]);
    },
  );

  test("a header that the definition sets is no parameter, so that no model can replace it", async () => {
    const tool = (await tools({ headers: { "x-trace": "of the definition" } }))("getPet");
    expect(Object.keys(tool?.parameters["properties"] as object)).not.toContain("X-Trace");
    await callTool(tool, { petId: "1", "X-Trace": "of the model" });
    expect(api.seen).toMatchObject([{ headers: { "x-trace": "of the definition" } }]);
  });

  test("a header set by the model is one line", async () => {
    const said = getText(
      await callTool((await tools())("getPet"), { petId: "1", "X-Trace": "a\r\nAuthorization: b" }),
    );
    expect(said).toBe("Error: header param 'X-Trace' must be one line of plain letters");
    expect(api.seen).toEqual([]);
  });

  test("redirects are followed within the origin, for GET only", async () => {
    const other = await startApi();
    api.answer(({ url }, response) => {
      const to: Record<string, string> = {
        "/v1/pets/in": "/elsewhere?x=1",
        "/v1/pets/out": `${other.url}/x`,
      };
      if (to[url] === undefined) return response.end("arrived");
      return response.writeHead(307, { location: to[url] }).end("moved");
    });
    const tool = await tools({ auth: { type: "bearer", token: "${TOKEN}" } });
    const secrets = { TOKEN: "tok-secret-1" };
    expect(getText(await callTool(tool("getPet"), { petId: "in" }, secrets))).toContain("→ 200\n\narrived");
    expect(getText(await callTool(tool("getPet"), { petId: "out" }, secrets))).toBe(
      `GET ${api.url}/v1/pets/out → 307\n\nmoved\n[The redirect to ${other.url}/x was not followed.]`,
    );
    expect(getText(await callTool(tool("deletePet"), { petId: "in" }, secrets))).toContain("→ 307\n\nmoved");
    expect(other.seen).toEqual([]);
    await other.close();
  });
});

describe("authentication", () => {
  const secrets = { TOKEN: "t0p&secret+1", NAME: "someone" };
  test.each([
    [{ type: "bearer", token: "${TOKEN}" }, { authorization: "Bearer t0p&secret+1" }, ""],
    [{ type: "api-key", in: "header", name: "X-Key", value: "${TOKEN}" }, { "x-key": "t0p&secret+1" }, ""],
    [{ type: "api-key", in: "query", name: "key", value: "${TOKEN}" }, {}, "?key=t0p%26secret%2B1"],
    [
      { type: "basic", username: "${NAME}", password: "${TOKEN}" },
      { authorization: `Basic ${Buffer.from("someone:t0p&secret+1").toString("base64")}` },
      "",
    ],
  ] as const)(
    "%j is sent, and masked where it would be displayed [OAPI-04.2-3, GAP-11]",
    async (auth, headers, query) => {
      api.answer(({ url, headers: { authorization = "", ...others } }, response) =>
        response.end(`${url} ${authorization} ${others["x-key"]}`),
      );
      const tool = (await tools({ auth, headers: { "X-Also": "a ${TOKEN}" } }))("getPet");
      expect(JSON.stringify(tool)).not.toContain("secret+1");
      const said = getText(
        await callTool(tool, { petId: "1", "X-Key": "mine", key: "mine", spread: { key: "mine" } }, secrets),
      );
      const own = auth.type === "api-key" && auth.in === "query" ? query : "?key=mine&key=mine";
      expect(api.seen).toMatchObject([
        { url: `/v1/pets/1${own}`, headers: { ...headers, "x-also": "a t0p&secret+1" } },
      ]);
      for (const word of [
        "t0p&secret+1",
        "t0p%26secret%2B1",
        Buffer.from("someone:t0p&secret+1").toString("base64"),
      ]) {
        expect(said).not.toContain(word);
      }
      expect(said).toContain("****");
    },
  );

  test("a secret that is missing or not valid in a header is reported before anything is sent", async () => {
    const tool = (await tools({ auth: { type: "bearer", token: "${TOKEN}" } }))("getPet");
    await expect(callTool(tool, { petId: "1" })).rejects.toThrow(
      /TOKEN is not set in the environment of the worker/,
    );
    await expect(callTool(tool, { petId: "1" }, { TOKEN: "a\nb" })).rejects.toThrow(/contains a line break/);
    expect(api.seen).toEqual([]);
  });

  test("the idempotency key is sent with all writes if a header is named for it", async () => {
    const tool = await tools({ idempotencyHeader: "Idempotency-Key" });
    await callTool(tool("getPet"), { petId: "1" });
    await callTool(tool("addPet"), {});
    expect(api.seen.map(({ headers }) => headers["idempotency-key"])).toEqual([undefined, "key-1"]);
  });
});

describe("answers", () => {
  const answered = async (
    headers: Record<string, string>,
    body: string | Uint8Array,
    more: Partial<OpenApiSettingsInput> = {},
    status = 200,
  ) => {
    api.answer((_, response) => response.writeHead(status, headers).end(body));
    return await callTool((await tools(more))("getPet"), { petId: "1" });
  };
  const head = `GET ${api.url}/v1/pets/1 → `;

  test("an error status is an answer too [OAPI-07.1, OAPI-08.2]", async () => {
    const output = await answered({ "content-type": "application/json" }, '{"error":"no"}', {}, 404);
    expect(output.content).toEqual([{ type: "text", text: `${head}404\n\n{"error":"no"}` }]);
  });

  test("a body is cut after a whole character [OAPI-07.2]", async () => {
    const output = await answered({ "content-type": "text/plain" }, "aäöü", { maxResponseBytes: 4 });
    expect(output.content).toEqual([
      { type: "text", text: `${head}200\n\naä` },
      { type: "text", text: "[The body was cut at 4 bytes.]" },
    ]);
  });

  test("other character sets are decoded as declared; compression is undone, but not of decompression bombs", async () => {
    const latin = await answered(
      { "content-type": "text/plain; charset=iso-8859-1" },
      new Uint8Array([0xe9]),
    );
    expect(getText(latin)).toBe(`${head}200\n\né`);
    const bomb = gzipSync(Buffer.alloc(20_000_000, "a"));
    const output = await answered({ "content-encoding": "gzip", "content-type": "text/plain" }, bomb);
    expect(getText(output).length).toBeLessThan(66_000);
    const unknown = answered({ "content-encoding": "zstd2" }, "x");
    await expect(unknown).rejects.toThrow(/content-encoding is zstd2/);
  });

  test("an image is returned, other bytes are only mentioned", async () => {
    const picture = await answered({ "content-type": "image/png" }, PNG, {
      maxResponseBytes: 2,
    });
    expect(picture.content).toEqual([
      { type: "text", text: `${head}200\n\n(image/png, 8 bytes)` },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
    ]);
    const bytes = await answered({ "content-type": "application/pdf" }, new Uint8Array([0, 255]));
    expect(getText(bytes)).toMatch(
      /200\n\n\(application\/pdf, 2 bytes: it is neither .*, so it is omitted\)$/,
    );
    const document = await answered({ "content-type": "application/pdf" }, PDF, { maxResponseBytes: 2 });
    expect(document.content[1]).toEqual({
      type: "file",
      name: "document.pdf",
      mimeType: "application/pdf",
      data: PDF.toString("base64"),
      pages: 1,
    });
    expect(getText(await answered({}, new Uint8Array([0, 1])))).toContain("(bytes, 2 bytes: not text");
    expect(getText(await answered({}, "words"))).toBe(`${head}200\n\nwords`);
  });

  test("an image has the type of its bytes: vendors reject others, and the conversation with them", async () => {
    const page = await answered({ "content-type": "image/png" }, "<html>No picture today</html>");
    expect(page.content).toEqual([
      { type: "text", text: `${head}200\n\n(image/png, 29 bytes: not text, so it is omitted)` },
    ]);
    const jpeg = await answered({ "content-type": "image/png" }, new Uint8Array([0xff, 0xd8, 0xff, 0xe0]));
    expect(jpeg.content[1]).toEqual({ type: "image", data: "/9j/4A==", mimeType: "image/jpeg" });
  });

  test("an answer without a body needs no decompression", async () => {
    expect(getText(await answered({ "content-encoding": "gzip" }, "", {}, 204))).toBe(`${head}204\n\n`);
    api.answer((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end());
    const [tool] = await buildTools({ "/x": { head: { operationId: "x" } } }, { baseUrl: api.url });
    expect(getText(await callTool(tool, {}))).toBe(`HEAD ${api.url}/x → 200\n\n`);
  });

  test("a silent server reaches the time limit, a stop ends the call, and a write is reported as possibly done", async () => {
    api.answer(() => undefined);
    const tool = await tools({ timeoutMs: 60 });
    await expect(callTool(tool("getPet"), { petId: "1" })).rejects.toThrow(
      /pets\/1: no answer within 60 ms$/,
    );
    await expect(callTool(tool("addPet"), {})).rejects.toThrow(
      /no answer within 60 ms\. The request may have been executed: check the state before you repeat it/,
    );
    const stop = new AbortController();
    const stopped = callTool((await tools())("getPet"), { petId: "1" }, {}, stop.signal);
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ fault: "cancelled" });
  });

  test("a closed port is an error, and nothing was done", async () => {
    const made = await buildTools(PATHS, { baseUrl: "http://127.0.0.1:1" });
    const add = made.find(({ remote }) => remote === "addPet");
    await expect(callTool(add, {})).rejects.toThrow(
      /^POST http:\/\/127\.0\.0\.1:1\/pets: nothing listens there \(ECONNREFUSED\)$/,
    );
  });
});

describe("the server of requests", () => {
  const AT = "https://docs.example.com/openapi.json";
  const baseOf = async (servers: unknown, more: Partial<OpenApiSettingsInput> = {}, address?: string) => {
    const { tools: made } = await parseDocument(
      { ...createDocument({ "/x": { get: { operationId: "x" } } }), servers },
      more,
      address,
    );
    return (made[0]!.data as { base: string }).base;
  };

  test("is the definition's, otherwise the document's first, without trailing slashes [OAPI-03.1-2]", async () => {
    const servers = [{ url: "https://{region}.example.com/v1//", variables: { region: { default: "eu" } } }];
    expect(await baseOf(servers, { baseUrl: "http://127.0.0.1:1/a/" })).toBe("http://127.0.0.1:1/a");
    expect(await baseOf(servers)).toBe("https://eu.example.com/v1");
    expect(await baseOf([{ url: "../v2" }], {}, AT)).toBe("https://docs.example.com/v2");
  });

  test.each([
    ["none is named", [], {}, undefined, /the document names no server: specify baseUrl/],
    ["one is meant from a file", [{ url: "/v1" }], {}, undefined, /relative to the location of the document/],
    ["one holds a password", [{ url: "https://a:b@h/" }], {}, undefined, /user or a password/],
    ["one is of another kind", [{ url: "ftp://h/" }], {}, undefined, /does not use http/],
    [
      "a remote document leads inside",
      [{ url: "http://169.254.169.254/" }],
      {},
      AT,
      /not on the public network/,
    ],
    [
      "a remote document leads to a name inside",
      [{ url: "http://db.internal/" }],
      {},
      AT,
      /not on the public/,
    ],
    [
      "a remote document would take a secret elsewhere",
      [{ url: "https://api.example.com/" }],
      { auth: { type: "bearer", token: "${T}" } },
      AT,
      /only the definition may decide where secrets are sent; specify baseUrl = "https:\/\/api\.example\.com\/"/,
    ],
  ] as const)("is not %s [OAPI-03.3]", async (_, servers, more, address, why) => {
    await expect(baseOf(servers, more as never, address)).rejects.toThrow(why);
  });

  test("is checked when it is connected to if an outsider chose its name", async () => {
    const looked = await new Promise((resolve) =>
      lookupPublic("localhost", { all: true }, (error, addresses) => resolve([error?.code, addresses])),
    );
    expect(looked).toEqual(["ERR_NOT_PUBLIC", []]);
    const inner = [
      "localhost",
      "127.0.0.1",
      "[::1]",
      "[::ffff:10.0.0.1]",
      "10.1.2.3",
      "172.20.0.1",
      "router",
      "a.local",
    ];
    expect(inner.filter((host) => !isPrivateHost(host))).toEqual([]);
    expect(["example.com", "8.8.8.8", "[2606:4700::1]"].filter(isPrivateHost)).toEqual([]);
  });
});
