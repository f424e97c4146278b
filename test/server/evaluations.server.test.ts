import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { connectClient } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import { checkedAnswers } from "./openapi-checker.ts";
import { bearer, sendRequest, startServer, type TestApiServer } from "./test-api-server.ts";

let stage: TestEnvironment;
let holdfast: Holdfast;
let server: TestApiServer;
beforeAll(async () => {
  stage = await openTestEnvironment();
  holdfast = await connectClient(stage);
  server = await startServer(holdfast);
});
afterAll(async () => {
  await server.close();
  await holdfast.close();
  await stage.close();
});

const send = (route: string, body?: unknown) => sendRequest(server, route, body);

/** Reads the stream of a run until the server ends it. */
async function readStream(path: string): Promise<string> {
  return await (await fetch(`${server.url}${path}`, { headers: bearer })).text();
}

test("a suite is started, followed, read, changed and deleted over HTTP", async () => {
  checkedAnswers.clear();
  // Answers to equal requests are shared: these agents ask differently.
  const createAgent = (name: string, text: string) =>
    stage.session({ agent: { name, systemPrompt: `Say ${text}.` } }).definition;
  const [right, wrong] = [createAgent("right", "2"), createAgent("wrong", "7")];
  stage.model.script({
    conversations: ["2", "7"].map((text) => ({ match: `Say ${text}.`, replies: [{ text }] })),
  });
  const started = await send("POST /v1/evaluations", {
    name: "sums",
    tags: ["nightly"],
    configurations: [{ agent: right }, { agent: wrong }],
    concurrency: 1,
    scorers: [{ type: "exact" }, { type: "turns" }],
    cases: [
      { id: "one", input: "1 + 1", expected: "2", tags: ["easy"] },
      { id: "two", input: "3 - 1", expected: "2" },
    ],
  });
  expect(started.status).toBe(201);
  const at = started.headers.get("location") ?? "";
  const events = await readStream(`${at}/events`);
  expect(events).toMatch(/id: end\nevent: result\ndata: \{.*"status":"ended".*\}\n\n$/);

  expect((await send(`GET ${at}`)).body).toMatchObject({
    ...{ status: "ended", cases: 2, cells: 4, finished: 4, pending: 0, failed: 0, failures: {} },
    plan: { name: "sums", configurations: [{ name: "right" }, { name: "wrong" }] },
  });
  expect((await send(`GET ${at}/report`)).body).toMatchObject({
    ...{ name: "sums", cells: 4, finished: 4 },
    configurations: [
      { name: "right", scores: [{ name: "exact", mean: 1 }, { name: "turns" }] },
      { name: "wrong", scores: [{ name: "exact", mean: 0 }, { name: "turns" }] },
    ],
    comparisons: expect.any(Array),
  });
  const { body: page } = await send(`GET ${at}/cells?configuration=right&limit=1`);
  expect(page).toMatchObject({
    cells: [
      {
        ...{ caseId: "one", configurationName: "right", state: "finished" },
        scores: [{ name: "exact", score: { class: "scored", value: 1 } }, { name: "turns" }],
      },
    ],
    next: expect.any(Number),
  });
  expect(
    (await send(`GET ${at}/cells?configuration=right&limit=1&after=${page["next"]}`)).body,
  ).toMatchObject({ cells: [{ caseId: "two" }], next: null });
  expect((await send(`GET ${at}/cells?case=two`)).body["cells"]).toHaveLength(2);
  expect((await send(`GET ${at}/cells?state=failed`)).body).toEqual({ cells: [], next: null });
  expect((await send(`GET ${at}/cells?case=three`)).status).toBe(422);
  expect((await send("GET /v1/evaluations?tag=nightly")).body).toMatchObject({
    runs: [{ id: started.body["id"], status: "ended" }],
    next: null,
  });
  expect((await send(`PATCH ${at}`, { concurrency: 3, maxCostUsd: 2 })).body).toMatchObject({
    control: { concurrency: 3, maxCostUsd: 2 },
  });
  expect((await send(`POST ${at}/stop`, { reason: "enough" })).body).toMatchObject({ open: false });
  expect((await send(`POST ${at}/retry`, {})).body).toMatchObject({ retried: 0 });
  expect((await send(`DELETE ${at}`)).status).toBe(204);
  for (const route of [
    `GET ${at}`,
    `GET ${at}/report`,
    `GET ${at}/cells`,
    `GET ${at}/events`,
    `DELETE ${at}`,
  ])
    expect((await send(route)).status, route).toBe(404);
  for (const verb of ["pause", "resume", "stop", "retry"])
    expect((await send(`POST ${at}/${verb}`, {})).status, verb).toBe(404);
});

test("a run is paused, resumed and stopped over HTTP, and cannot be deleted while it works", async () => {
  const held = { text: "2", holdUntil: "suite" };
  const session = stage.session({ replies: [held] });
  const { body } = await send("POST /v1/evaluations", {
    name: "held",
    configurations: [{ agent: session.definition }],
    concurrency: 1,
    cases: ["a", "b", "c"].map((input) => ({ id: input, input })),
  });
  const { self: at = "", events = "" } = body["links"] as Record<string, string>;
  await stage.model.waitForRequest(({ conversation }) => conversation === session.id);
  expect((await send(`DELETE ${at}`)).body).toMatchObject({ code: "session-busy" });
  expect((await send(`POST ${at}/pause`)).body).toMatchObject({ status: "paused" });
  expect((await send(`POST ${at}/resume`)).body).toMatchObject({ status: "running" });
  expect((await send(`POST ${at}/stop`, { reason: "enough" })).body).toMatchObject({ open: true });
  expect(await readStream(events)).toMatch(/event: result\ndata: \{.*"status":"stopped".*"reason":"enough"/);
  expect([...checkedAnswers].filter((one) => / 2\d\d$/.test(one)).sort()).toEqual([
    "changeEvaluation 200",
    "deleteEvaluation 204",
    "getEvaluation 200",
    "getEvaluationReport 200",
    "listCells 200",
    "listEvaluations 200",
    "pauseEvaluation 200",
    "resumeEvaluation 200",
    "retryEvaluation 200",
    "startEvaluation 201",
    "stopEvaluation 202",
  ]);
  expect(server.reportedErrors).toEqual([]);
});
