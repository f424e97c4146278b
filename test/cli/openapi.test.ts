import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDocument } from "../openapi/sample-api.ts";
import { runHoldfast } from "./terminal.ts";

let folder: string;
let spec: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-openapi-cli-"));
  spec = join(folder, "api.json");
  const document = createDocument({
    "/repos": { get: { operationId: "repos/list", tags: ["repos"] }, post: {} },
    "/users/{id}": { delete: { operationId: "users/delete" } },
  });
  await writeFile(spec, JSON.stringify(document));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("inspect lists names, replay classes, and the skipped operations with the reason [OAPI-02.1, OAPI-05.2]", async () => {
  const { code, out, err } = await runHoldfast(["openapi", "inspect", spec]);
  expect(code).toBe(0);
  expect(out.split("\n")).toEqual([
    "Test 1",
    "https://api.example.com/v1",
    "repos_list    pure        GET     /repos",
    "users_delete  idempotent  DELETE  /users/{id}",
    "",
    "skipped",
    "  POST  /repos  it has no operationId",
    "",
    "2 tools, 1 skipped",
    "",
  ]);
  expect(err).toBe("warning: openapi inspect: skipped POST /repos: it has no operationId\n");
  expect(await runHoldfast(["openapi", "inspect", spec, "--strict"])).toMatchObject({ code: 1 });
});

test("invalid options are quoted as they were typed", async () => {
  for (const [option, value] of [
    ["--base-url", "nowhere"],
    ["--prefix", "a b"],
  ] as const) {
    expect(await runHoldfast(["openapi", "inspect", spec, option, value])).toMatchObject({
      code: 2,
      err: expect.stringMatching(new RegExp(`${option} "${value}" (?:is not a URL|must be 1 to 40 letters)`)),
    });
  }
});

test("the filter, the prefix, and lines of JSON", async () => {
  const { code, out } = await runHoldfast([
    "openapi",
    "inspect",
    spec,
    "--tag",
    "repos",
    "--prefix",
    "git",
    "--json",
  ]);
  expect(code).toBe(0);
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(lines).toMatchObject([
    { type: "tool", name: "git__repos_list", operation: "repos/list", method: "get", replay: "pure" },
    { type: "skipped", method: "post", byFilter: true },
    { type: "skipped", id: "users/delete", byFilter: true },
    { type: "api", title: "Test", tools: 1, skipped: 2, warnings: [] },
  ]);
});

test("an unreadable document is bad input, with the reason", async () => {
  const gone = await runHoldfast(["openapi", "inspect", join(folder, "gone.yaml")]);
  expect(gone).toMatchObject({ code: 2, out: "" });
  expect(gone.err).toMatch(/gone\.yaml cannot be read: the file does not exist/);
  expect(await runHoldfast(["openapi", "inspect", spec, "--base-url", "nowhere"])).toMatchObject({ code: 2 });
});
