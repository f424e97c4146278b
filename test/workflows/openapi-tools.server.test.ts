import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TEST_KEY_NAME } from "../../src/testing/test-agent.ts";
import { approveUpdate } from "../../src/workflows/messages.ts";
import { createDocument, startApi } from "../openapi/sample-api.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, TEST_KEY, type TestEnvironment } from "./support/test-environment.ts";
import { recordWarnings } from "./support/warnings.ts";

const PET_TOKEN = "pet-token-0123456789";
const { log, warnings } = recordWarnings();
const api = await startApi(({ method, headers }, response) => {
  response.setHeader("content-type", "application/json");
  response.end(method === "GET" ? `{"name":"Bo","by":"${headers.authorization}"}` : '{"id":2}');
});
let stage: TestEnvironment;
beforeAll(async () => {
  const values: Record<string, string> = { [TEST_KEY_NAME]: TEST_KEY, PET_TOKEN };
  stage = await openTestEnvironment({ log, secrets: (name) => values[name] });
  const id = { in: "path", name: "id", required: true, schema: { type: "integer" } };
  const body = { content: { "application/json": { schema: { type: "object" } } } };
  const document = createDocument({
    "/pets/{id}": { get: { operationId: "pets/get", parameters: [id], description: "One pet." } },
    "/pets": { post: { operationId: "pets/add", requestBody: body }, put: {} },
  });
  await writeFile(join(stage.home, "pets.json"), JSON.stringify(document));
});
afterAll(async () => {
  await stage.close();
  await api.close();
});

const sessionOf = (more: object = {}) =>
  stage.session({
    replies: [
      { toolCalls: [{ name: "pets_get", arguments: { id: 1 } }] },
      { toolCalls: [{ name: "pets_add", arguments: { body: { name: "Bo" } } }] },
      { text: "Done." },
    ],
    agent: {
      openapi: [
        {
          name: "pets",
          spec: "pets.json",
          baseUrl: api.url,
          auth: { type: "bearer", token: "${PET_TOKEN}" },
          ...more,
        },
      ],
    },
  });

describe("an agent with an OpenAPI document", () => {
  test("reads without approval, asks the user before it writes, and its key appears nowhere [OAPI-01.3, OAPI-04.2-3, OAPI-07.1]", async () => {
    const session = sessionOf();
    await session.start("Go", { mode: "interactive" });
    const asked = await eventually(
      async () => {
        const { approvals } = await session.readStatus();
        return approvals.length > 0 ? approvals : undefined;
      },
      { what: "a question" },
    );
    expect(asked).toMatchObject([{ tool: "pets_add" }]);
    expect(api.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(["GET /pets/1"]);
    await session.handle.executeUpdate(approveUpdate, { args: [{ answer: "approve" }] });
    await eventually(() => (api.seen.length === 2 ? true : undefined), { what: "the second request" });
    expect(api.seen[1]).toMatchObject({
      method: "POST",
      url: "/pets",
      headers: { authorization: `Bearer ${PET_TOKEN}` },
      body: '{"name":"Bo"}',
    });
    await session.waitForRequest(2);
    const [first] = session.listRequests();
    const { tools } = first!.body as { tools: { name: string; description: string }[] };
    expect(tools).toMatchObject([{ name: "pets_get", description: "One pet." }, { name: "pets_add" }]);
    const results = session.listSeenMessages(2).filter((line) => line.includes("→"));
    expect(results).toEqual([
      `user: GET ${api.url}/pets/1 → 200\n\n{"name":"Bo","by":"Bearer ****"}`,
      `user: POST ${api.url}/pets → 200\n\n{"id":2}`,
    ]);
    expect(warnings.map(({ text }) => text)).toContain(
      "openapi pets: skipped PUT /pets: it has no operationId",
    );
    expect(JSON.stringify(await session.readEntries())).not.toContain(PET_TOKEN);
    await session.handle.terminate();
  });

  thoroughTest("does not begin when its document cannot be read", async () => {
    const session = sessionOf({ spec: "gone.json" });
    await session.start("Go");
    const { message } = await session.readFailure();
    expect(message).toMatch(/The OpenAPI document .*gone\.json cannot be read: the file does not exist/);
    expect(session.listRequests()).toEqual([]);
  });
});
