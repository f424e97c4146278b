import { afterEach, expect, test } from "vitest";
import {
  type Holdfast,
  HoldfastError,
  type LoadedSuite,
  type SuiteRunStatus,
} from "../../src/client/index.ts";
import { openApi } from "./openapi-checker.ts";
import { bearer, sendRequest, startServer, type TestApiServer } from "./test-api-server.ts";

let server: TestApiServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const model = {
  id: "m",
  api: "anthropic_messages",
  provider: "anthropic",
  baseUrl: "http://127.0.0.1:1",
  contextWindow: 200_000,
};
const agent = { name: "one", systemPrompt: "Answer.", model };
const served = new Map([["one", agent as never]]);

/** A client that records what is started, and has one run. */
function createClient(statuses: readonly Partial<SuiteRunStatus>[] = []) {
  const started: { suite: LoadedSuite; options: unknown }[] = [];
  const listed: unknown[] = [];
  const cells = [0, 1, 2].map((number) => ({ number, caseId: `c${number}` }));
  const run = {
    id: "suite-1",
    status: async () => {
      const [status] = statuses;
      if (status === undefined) throw new HoldfastError("session-unknown", "There is no suite run suite-1.");
      return status;
    },
    async *watch() {
      yield* statuses;
    },
    async *cells({ after = -1, ...filters }: { after?: number }) {
      listed.push(filters);
      yield* cells.filter(({ number }) => number > after);
    },
  };
  const evaluations = {
    start: async (suite: LoadedSuite, options: unknown) => {
      started.push({ suite, options });
      return run;
    },
    get: () => run,
    list: async (options: { limit: number; after?: { createdAtMs: number } }) => {
      listed.push(options);
      const first = options.after?.createdAtMs ?? 4;
      return [3, 2, 1]
        .filter((createdAtMs) => createdAtMs < first)
        .slice(0, options.limit)
        .map((createdAtMs) => ({ id: `suite-${createdAtMs}`, createdAtMs, scorers: ["digest"] }));
    },
  };
  return { holdfast: { evaluations } as unknown as Holdfast, started, listed };
}

/** Sends a request whose answer the document does not describe completely, because the client is not a real one. */
async function send(route: string, body?: unknown) {
  const [method = "", path = ""] = route.split(" ");
  const response = await fetch(`${server!.url}${path}`, {
    method,
    headers: bearer,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
}

const SUITE = { name: "sums", configurations: [{ agent }], cases: [{ input: "1 + 1" }] };

test("a suite is completed with defaults, and a case without an id gets one", async () => {
  const { holdfast, started } = createClient();
  server = await startServer(holdfast);
  const answer = await sendRequest(server, "POST /v1/evaluations", {
    ...SUITE,
    scorers: [{ type: "exact", expected: "2" }],
    fresh: true,
  });
  expect([answer.status, answer.headers.get("location"), answer.body]).toEqual([
    201,
    "/v1/evaluations/suite-1",
    {
      id: "suite-1",
      links: {
        self: "/v1/evaluations/suite-1",
        report: "/v1/evaluations/suite-1/report",
        cells: "/v1/evaluations/suite-1/cells",
        events: "/v1/evaluations/suite-1/events",
      },
    },
  ]);
  const [{ suite, options } = { suite: undefined, options: undefined }] = started;
  expect(options).toEqual({ fresh: true });
  expect(suite).toMatchObject({ name: "sums", repetitions: 1, concurrency: 20, stopAfterFailures: 20 });
  for await (const value of suite!.cases())
    expect(value).toEqual({ id: expect.stringMatching(/^case-/), messages: ["1 + 1"] });
});

test("a judge is an agent, and a model replaces that of a configuration's agent", async () => {
  const { holdfast, started } = createClient();
  server = await startServer(holdfast);
  const rubric = [{ id: "right", description: "The sum is right." }];
  const { status } = await sendRequest(server, "POST /v1/evaluations", {
    ...SUITE,
    configurations: [{ agent }, { name: "other", agent, model: "anthropic/claude-sonnet-4-5" }],
    scorers: [{ type: "judge", rubric, agent: { ...agent, name: "judge" } }],
  });
  expect(status).toBe(201);
  expect(started[0]?.suite).toMatchObject({
    configurations: [
      { name: "one", definition: { model: { id: "m" } } },
      { name: "other", definition: { model: { id: "claude-sonnet-4-5" } } },
    ],
    scorers: [{ judge: { name: "judge" } }],
  });
});

test("every problem of a suite is in one answer, and nothing is started", async () => {
  const { holdfast, started } = createClient();
  server = await startServer(holdfast);
  const problemsOf = async (change: object) => {
    const { status, body } = await sendRequest(server!, "POST /v1/evaluations", { ...SUITE, ...change });
    expect([status, body["code"]]).toEqual([422, "body-invalid"]);
    return String(body["detail"]);
  };
  expect(await problemsOf({ repetition: 3, cases: [] })).toMatch(
    /cases: must not be empty.*did you mean "repetitions"/,
  );
  expect(await problemsOf({ configurations: [{ agent }, { agent }] })).toContain(
    'configurations.1.name: another of the configurations before has the name "one"',
  );
  expect(await problemsOf({ cases: [{ id: "a", input: "x" }, { id: "a", input: "y" }, {}] })).toMatch(
    /another case before has the id "a".*input/s,
  );
  // The server reads no file that a request names.
  expect(await problemsOf({ cases: [{ input: "x", files: { a: { from: "/etc/passwd" } } }] })).toContain(
    "cases.0.files.a",
  );
  expect(await problemsOf({ cases: [{ input: "x", files: { "../a": "" } }] })).toContain("cases.0.files");
  expect(await problemsOf({ configurations: [{}] })).toContain("specifies no agent");
  expect(await problemsOf({ maxCostUsd: 0 })).toContain("maxCostUsd");
  expect(started).toEqual([]);
});

test("a server with agents starts no others, judges included, and runs no commands of a request", async () => {
  const { holdfast, started } = createClient();
  server = await startServer(holdfast, { agents: served });
  const rubric = [{ id: "right", description: "The sum is right." }];
  for (const change of [
    { configurations: [{ agent }] },
    { configurations: [{ agent: "two" }] },
    { configurations: [{ agent: "one", model: "anthropic/claude-sonnet-4-5" }] },
    { configurations: [{ agent: "one" }], scorers: [{ type: "judge", rubric, agent }] },
    { configurations: [{ agent: "one" }], scorers: [{ type: "command", command: "id" }] },
  ]) {
    const { status, body } = await sendRequest(server, "POST /v1/evaluations", { ...SUITE, ...change });
    expect([status, body["code"], body["detail"]]).toEqual([
      422,
      "body-invalid",
      expect.stringMatching(/only its own agents|has no agent "two"/),
    ]);
  }
  expect(started).toEqual([]);
  // Of a single agent the name may be left out.
  const { status } = await sendRequest(server, "POST /v1/evaluations", { ...SUITE, configurations: [{}] });
  expect([status, started[0]?.suite.configurations[0]?.name]).toEqual([201, "one"]);
});

test("a server without agents accepts a command as a scorer", async () => {
  const { holdfast, started } = createClient();
  server = await startServer(holdfast);
  const { status } = await sendRequest(server, "POST /v1/evaluations", {
    ...SUITE,
    scorers: [{ type: "command", command: "node {{code}}" }],
  });
  expect([status, started.length]).toEqual([201, 1]);
});

test("runs and cells are read in pages, each after the previous one", async () => {
  const { holdfast, listed } = createClient();
  server = await startServer(holdfast);
  const first = await send("GET /v1/evaluations?limit=2&tag=nightly");
  expect(first.body).toEqual({
    runs: [
      { id: "suite-3", createdAtMs: 3 },
      { id: "suite-2", createdAtMs: 2 },
    ],
    next: "2_suite-2",
  });
  expect((await send(`GET /v1/evaluations?limit=2&after=${first.body.next}`)).body).toEqual({
    runs: [{ id: "suite-1", createdAtMs: 1 }],
    next: null,
  });
  expect(listed[0]).toMatchObject({ tag: "nightly" });
  const cells = "GET /v1/evaluations/suite-1/cells?case=c&state=failed&limit=2";
  const page = await send(cells);
  expect([page.body.cells.length, page.body.next]).toEqual([2, 1]);
  expect(await send(`${cells}&after=1`)).toMatchObject({ body: { cells: [{ number: 2 }], next: null } });
  expect(listed.at(-1)).toEqual({ caseId: "c", state: "failed" });
  for (const query of ["evaluations?after=x", "evaluations?limit=501", "evaluations/suite-1/cells?state=odd"])
    expect((await send(`GET /v1/${query}`)).body, query).toMatchObject({ code: "query-invalid" });
});

async function readText(headers: Record<string, string> = {}) {
  const response = await fetch(`${server!.url}/v1/evaluations/suite-1/events`, {
    headers: { ...bearer, ...headers },
  });
  return [response.status, await response.text()];
}

test("a stream has each change once and a last event, after which a reader stays away", async () => {
  const running = { id: "suite-1", status: "running", plan: { name: "sums" }, pending: 2 } as never;
  const ended = { id: "suite-1", status: "ended", plan: { name: "sums" }, pending: 0 } as never;
  server = await startServer(createClient([running, running, ended]).holdfast);
  expect(await readText()).toEqual([
    200,
    'retry: 1000\n\ndata: {"id":"suite-1","status":"running","pending":2}\n\n' +
      'id: end\nevent: result\ndata: {"id":"suite-1","status":"ended","pending":0}\n\n',
  ]);
  // The run was resumed: there is more to come.
  expect((await readText({ "last-event-id": "end" }))[0]).toBe(200);
  await server.close();
  server = await startServer(createClient([ended]).holdfast);
  expect(await readText({ "last-event-id": "end" })).toEqual([204, ""]);
  expect((await readText())[0]).toBe(200);
});

test("an unknown run is a problem before its stream begins, and a change must change something", async () => {
  server = await startServer(createClient().holdfast);
  for (const path of ["", "/events"])
    expect(await sendRequest(server, `GET /v1/evaluations/suite-1${path}`)).toMatchObject({
      status: 404,
      body: { code: "session-unknown" },
    });
  expect((await sendRequest(server, "PATCH /v1/evaluations/suite-1", {})).body).toMatchObject({
    code: "body-invalid",
    detail: expect.stringContaining("needs `concurrency` or `maxCostUsd`"),
  });
  const put = await fetch(`${server.url}/v1/evaluations/suite-1`, { method: "PUT", headers: bearer });
  expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, PATCH, DELETE"]);
});

test("the document says what the id in an address is", () => {
  expect(openApi.paths["/v1/evaluations/{id}"]?.["get"]).toMatchObject({
    parameters: [{ name: "id", description: "The id of the run." }],
  });
});
