import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LoadedApi } from "../../src/tools/sources/openapi/load-api.ts";
import { assignToolNames } from "../../src/tools/sources/tool-names.ts";
import { callTool, getText, parseDocument, startApi } from "./sample-api.ts";

// Documents as their publishers give them away:
//   GitHub  3.0.3 JSON  1223 operations  npm @octokit/openapi 23.0.2, generated/api.github.com.json, without blanks
//   Figma   3.1.0 YAML    54 operations  npm @figma/rest-api-spec
//   Galaxy  3.1.1 YAML     9 operations  npm @scalar/galaxy
// The first lies beside this file: its package holds it forty times over, in half a gigabyte.

const find = createRequire(import.meta.url);
const packaged = (name: string, file: string) =>
  readFileSync(join(dirname(find.resolve(`${name}/package.json`)), file), "utf8");

const SPECS = {
  github: () =>
    brotliDecompressSync(readFileSync(new URL("specs/github.json.br", import.meta.url))).toString("utf8"),
  figma: () => packaged("@figma/rest-api-spec", "openapi/openapi.yaml"),
  galaxy: () =>
    readFileSync(new URL("../../node_modules/@scalar/galaxy/dist/latest.yaml", import.meta.url), "utf8"),
} as const;
type Name = keyof typeof SPECS;
const COUNTS: Readonly<Record<Name, number>> = { github: 1223, figma: 54, galaxy: 9 };

const api = await startApi((_, response) => {
  response.setHeader("content-type", "application/json").end('{"done":true}');
});
afterAll(api.close);
const loaded = {} as Record<Name, LoadedApi>;
beforeAll(async () => {
  for (const name of Object.keys(SPECS) as Name[]) {
    loaded[name] = await parseDocument(SPECS[name](), { baseUrl: `${api.url}/base` });
  }
});
const tool = (name: Name, remote: string) => loaded[name].tools.find((one) => one.remote === remote);

describe.each(Object.keys(SPECS) as Name[])("%s", (name) => {
  test("all operations are tools, each with its own name and a valid schema [OAPI-01.3, OAPI-02.1, OAPI-02.3]", () => {
    const { tools, skipped } = loaded[name];
    expect([tools.length, skipped]).toEqual([COUNTS[name], []]);
    const names = assignToolNames(tools, []).map((one) => one.name);
    expect(names.filter((one) => !/^[A-Za-z0-9_-]{1,64}$/.test(one))).toEqual([]);
    expect(new Set(names).size).toBe(COUNTS[name]);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const wrong = tools.filter(({ parameters }) => ajv.validateSchema(parameters) !== true);
    expect(wrong.map(({ remote }) => remote)).toEqual([]);
    const keys = tools.flatMap(({ parameters }) => Object.keys(parameters["properties"] as object));
    expect(keys.filter((key) => !/^[A-Za-z0-9_.-]{1,64}$/.test(key))).toEqual([]);
    for (const { parameters, description, data } of tools) {
      expect(JSON.stringify(parameters)).not.toContain('"$ref"');
      expect(parameters["type"]).toBe("object");
      expect(description.length).toBeGreaterThan(0);
      expect(JSON.stringify(data).length).toBeLessThan(2500);
    }
  });

  test("the same document produces the same hashes, one for each operation", async () => {
    const again = await parseDocument(SPECS[name](), { baseUrl: `${api.url}/base` });
    const hashes = again.tools.map(({ hash }) => hash);
    expect(hashes).toEqual(loaded[name].tools.map(({ hash }) => hash));
    expect(new Set(hashes).size).toBe(COUNTS[name]);
  });
});

describe("calls of public APIs, received by a server on this machine", () => {
  test.each([
    [
      "github",
      "repos/get-content",
      { owner: "nobody", repo: "a b", path: "src/ä.ts", ref: "x&y" },
      "GET",
      "/base/repos/nobody/a%20b/contents/src%2F%C3%A4.ts?ref=x%26y",
      "",
    ],
    [
      "github",
      "issues/create",
      { owner: "o", repo: "r", body: { title: "T", labels: ["bug"] } },
      "POST",
      "/base/repos/o/r/issues",
      '{"title":"T","labels":["bug"]}',
    ],
    [
      "github",
      "pulls/merge",
      { owner: "o", repo: "r", pull_number: 7 },
      "PUT",
      "/base/repos/o/r/pulls/7/merge",
      "",
    ],
    ["github", "markdown/render-raw", { body: "# Hi" }, "POST", "/base/markdown/raw", "# Hi"],
    [
      "figma",
      "getFileNodes",
      { file_key: "k", ids: "1:2,1:3", depth: 2 },
      "GET",
      "/base/v1/files/k/nodes?ids=1%3A2%2C1%3A3&depth=2",
      "",
    ],
    [
      "figma",
      "postComment",
      { file_key: "k", body: { message: "Hm" } },
      "POST",
      "/base/v1/files/k/comments",
      '{"message":"Hm"}',
    ],
    ["galaxy", "getPlanet", { planetId: 1 }, "GET", "/base/planets/1", ""],
    ["galaxy", "deletePlanet", { planetId: 2 }, "DELETE", "/base/planets/2", ""],
  ] as const)("%s %s [OAPI-06.1-3, OAPI-07.1]", async (name, remote, values, method, url, body) => {
    const output = await callTool(tool(name, remote), values);
    expect(api.seen.at(-1)).toMatchObject({ method, url, body });
    expect(getText(output)).toBe(`${method} ${api.url}${url} → 200\n\n{"done":true}`);
  });

  test("galaxy uploadImage: a file in a form", async () => {
    await callTool(tool("galaxy", "uploadImage"), { planetId: 1, body: { image: "GIF" } });
    const { headers, body } = api.seen.at(-1)!;
    const [, boundary] = /^multipart\/form-data; boundary=(.+)$/.exec(headers["content-type"] ?? "") ?? [];
    expect(body).toBe(
      `--${boundary}\r\nContent-Disposition: form-data; name="image"; filename="image"\r\nContent-Type: application/octet-stream\r\n\r\nGIF\r\n--${boundary}--\r\n`,
    );
  });
});
