import { describe, expect, test } from "vitest";
import { OpenApis } from "../../src/schema/openapi.ts";
import { buildTools, createDocument, createSettings, parseDocument } from "./sample-api.ts";

const PATHS = {
  "/repos": {
    get: { operationId: "listRepos", tags: ["repos"], summary: "List" },
    post: { operationId: "addRepo" },
  },
  "/repos/{id}": {
    put: { operationId: "putRepo", tags: ["repos", "admin"] },
    delete: { operationId: "deleteRepo", tags: ["admin"] },
    patch: { operationId: "patchRepo" },
    head: { operationId: "headRepo" },
    options: { operationId: "optionsRepo" },
    trace: { operationId: "traceRepo" },
  },
  "/users": { get: { tags: ["users"] } },
};
const ids = async (operations?: object) =>
  (await buildTools(PATHS, operations === undefined ? {} : { operations })).map(({ remote }) => remote);

describe("the operations that become tools", () => {
  test("are all, or selected by id, by any of some tags, or by a path prefix [OAPI-05.1]", async () => {
    expect(await ids()).toEqual([
      "listRepos",
      "addRepo",
      "headRepo",
      "optionsRepo",
      "putRepo",
      "deleteRepo",
      "patchRepo",
    ]);
    expect(await ids({ ids: ["putRepo"] })).toEqual(["putRepo"]);
    expect(await ids({ tags: ["admin", "users"] })).toEqual(["putRepo", "deleteRepo"]);
    expect(await ids({ pathPrefix: "/repos/" })).toHaveLength(5);
    expect(await ids({ pathPrefix: "/repos/", tags: ["repos"] })).toEqual(["putRepo"]);
  });

  test("exclude one without an id, with a warning, and an unknown selected name is reported [OAPI-05.2]", async () => {
    const { skipped, warnings } = await parseDocument(createDocument(PATHS), {
      operations: { ids: ["listRepos", "gone"] },
      replay: { "nothing*": "pure" },
      confirm: ["list*"],
    });
    expect(skipped.filter(({ isSelected }) => isSelected !== true).map(({ method }) => method)).toEqual([
      "trace",
    ]);
    expect(warnings).toEqual([
      "openapi api: skipped TRACE /repos/{id}: TRACE is not sent",
      'openapi api: operations.ids names "gone", which matches no operation of the document',
      'openapi api: replay names "nothing*", which matches no operation of the document',
    ]);
    expect((await parseDocument(createDocument(PATHS))).warnings).toContain(
      "openapi api: skipped GET /users: it has no operationId",
    );
  });
});

test("the replay class follows from the method or the author's setting", async () => {
  const classes = async (more: object) =>
    Object.fromEntries(
      (await buildTools(PATHS, more)).map(({ remote, replay, confirm }) => [
        remote,
        confirm === true ? `${replay}!` : replay,
      ]),
    );
  expect(await classes({})).toEqual({
    listRepos: "pure",
    headRepo: "pure",
    optionsRepo: "pure",
    putRepo: "idempotent",
    deleteRepo: "idempotent",
    addRepo: "unsafe",
    patchRepo: "unsafe",
  });
  const other = await classes({ replay: { "*Repo": "unsafe", addRepo: "idempotent" }, confirm: ["delete*"] });
  expect(other).toMatchObject({
    listRepos: "pure",
    putRepo: "unsafe",
    addRepo: "idempotent",
    deleteRepo: "unsafe!",
  });
});

test("names have the prefix, descriptions have fallbacks, labels are summaries [OAPI-02.1-2]", async () => {
  const [list] = await buildTools(PATHS, { prefix: "git" });
  expect(list).toMatchObject({ name: "git__listRepos", description: "List", data: { label: "List" } });
});

test("3.0 and 3.1, YAML and JSON have the same meaning; features of 3.0 alone are translated [OAPI-01.1, OAPI-09]", async () => {
  const schemaOf = async (version: string, schema: string) => {
    const { tools } = await parseDocument(
      `openapi: ${version}\nservers: [{url: "https://h"}]\npaths:\n  /x:\n    post:\n      operationId: x\n      requestBody:\n        content:\n          application/json:\n            schema: ${schema}\n`,
    );
    return (tools[0]!.parameters["properties"] as { body: unknown }).body;
  };
  const old = await schemaOf(
    "3.0.3",
    '{type: object, required: [a, id], properties: {id: {type: string, readOnly: true}, a: {type: integer, nullable: true, minimum: 1, exclusiveMinimum: true, example: 3, xml: {name: a}}, b: {nullable: true, allOf: [{type: object, properties: {c: {type: string}}}, {required: [c]}]}, d: {enum: [x], type: string, nullable: true}, e: {type: string, pattern: "(?<bad"}}}',
  );
  expect(old).toEqual({
    type: "object",
    required: ["a"],
    properties: {
      a: { type: ["integer", "null"], exclusiveMinimum: 1, examples: [3] },
      b: { type: ["object", "null"], properties: { c: { type: "string" } }, required: ["c"] },
      d: { type: ["string", "null"], enum: ["x", null] },
      e: { type: "string" },
    },
  });
  const today = await schemaOf(
    "3.1.0",
    "{type: object, properties: {a: {type: [integer, 'null'], exclusiveMinimum: 1, examples: [3]}, t: true, f: false, p: {type: array, prefixItems: [{type: string}]}}}",
  );
  expect(today).toEqual({
    type: "object",
    properties: {
      a: { type: ["integer", "null"], exclusiveMinimum: 1, examples: [3] },
      t: {},
      f: { not: {} },
      p: { type: "array", items: {} },
    },
  });
});

test("a parameter of the operation overrides that of its path, and two with one name are distinguished", async () => {
  const [tool] = await buildTools({
    "/x/{id}": {
      parameters: [
        { in: "path", name: "id", required: true, schema: { type: "string" } },
        { in: "query", name: "q", schema: { type: "string" } },
      ],
      get: {
        operationId: "x",
        parameters: [
          { in: "query", name: "q", required: true, schema: { type: "integer" }, description: "How many." },
          { in: "query", name: "id", content: { "application/json": { schema: { type: "object" } } } },
        ],
      },
    },
  });
  expect(tool?.parameters).toEqual({
    type: "object",
    properties: {
      id: { type: "string" },
      q: { type: "integer", description: "How many." },
      query_id: { type: "object" },
    },
    required: ["id", "q"],
    additionalProperties: false,
  });
});

test("a body in an unsupported format skips the operation, unless it is optional", async () => {
  const body = (required: boolean) => ({ required, content: { "application/octet-stream": {} } });
  const { tools, warnings } = await parseDocument(
    createDocument({
      "/a": { post: { operationId: "a", requestBody: body(true) } },
      "/b": { post: { operationId: "b", requestBody: body(false) } },
    }),
  );
  expect(tools.map(({ remote }) => remote)).toEqual(["b"]);
  expect(warnings[0]).toMatch(/skipped a: it needs a body of application\/octet-stream/);
});

test("defaults match the sources, and names must be distinct [OAPI-04.1]", () => {
  expect(createSettings()).toMatchObject({
    auth: { type: "none" },
    headers: {},
    maxResponseBytes: 65_536,
    timeoutMs: 30_000,
    allowRemoteRefs: false,
  });
  expect(OpenApis.safeParse([createSettings(), createSettings()]).error?.issues[0]?.message).toMatch(
    /unique names/,
  );
  expect(() => createSettings({ auth: { type: "bearer", token: "sk-1" } })).toThrow(
    /never write the key itself/,
  );
});
