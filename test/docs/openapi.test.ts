import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeAgent } from "../../src/config/agent-file/write-agent.ts";
import { OpenApiSource } from "../../src/tools/sources/openapi/open-api-source.ts";
import { listProblems, loadDefinitions } from "../config/agent-files.ts";
import { createDocument, startApi } from "../openapi/sample-api.ts";

const page = readFileSync(new URL("../../docs/openapi.md", import.meta.url), "utf8");
const example = /```toml\n([\s\S]*?)```/.exec(page)?.[1] ?? "";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-openapi-docs-"));
  const document = createDocument({
    "/pets": {
      get: { operationId: "listPets", tags: ["pets"] },
      post: { operationId: "addPet", tags: ["shop"] },
    },
    "/pets/{petId}": { delete: { operationId: "deletePet", tags: ["pets"] } },
  });
  await writeFile(join(folder, "petstore.yaml"), JSON.stringify(document));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the example of docs/openapi.md is an agent whose calls arrive with their key [OAPI-01.1, OAPI-01.3, OAPI-04.2, OAPI-05.1]", async () => {
  expect(listProblems(example)).toEqual([]);
  const api = await startApi();
  const moved = example.replace("http://127.0.0.1:8080", api.url);
  const [agent] = Object.values(loadDefinitions(moved, { env: { PETSTORE_TOKEN: "not put in" } }));
  const source = new OpenApiSource({ secrets: (name) => `value of ${name}` });
  const { tools = [], warnings } = await source.pin(agent!, {
    workspace: folder,
    signal: new AbortController().signal,
    getSecret: () => undefined,
    log: { info: () => undefined, warn: () => undefined },
  });
  expect(warnings).toEqual([]);
  expect(tools.map(({ name, replay, confirm }) => [name, replay, confirm])).toEqual([
    ["pets__listPets", "pure", undefined],
    ["pets__deletePet", "idempotent", true],
  ]);
  const signal = new AbortController().signal;
  await source.createTool(tools[0]!).execute({}, { signal, idempotencyKey: "k" } as never);
  expect(api.seen).toMatchObject([
    { method: "GET", url: "/v1/pets", headers: { authorization: "Bearer value of PETSTORE_TOKEN" } },
  ]);
  await source.close();
  await api.close();
  expect(loadDefinitions(writeAgent(agent!, "toml"))["agent"]?.openapi).toEqual(agent?.openapi);
});

test.each([
  ['auth = { type = "bearer", token = "sk-1" }', /\$\{NAME\}, never the secret itself/],
  ['base_url = "ftp://x"', /a URL such as/],
  ["bas_url = 1", /did you mean "base_url"/],
  ["timeout_secs = 0", /above 0/],
  ['replay = { x = "safe" }', /"pure", "idempotent" or "unsafe"/],
  ['name = "a b"', /1 to 40 letters/],
])("an agent file with %s is rejected with the reason, without the secret", (line, why) => {
  const text = `${example.split("[[openapi")[0]}[[openapi.instances]]\nname = "a"\nspec = "a.yaml"\n${line}\n`;
  const fixed = line.startsWith("name") ? text.replace('name = "a"\n', "") : text;
  const problems = listProblems(fixed);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ severity: "error", message: expect.stringMatching(why) });
  expect(JSON.stringify(problems[0]?.message)).not.toContain("sk-1");
});
