import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readRecordings } from "../../src/devkit/conform/recordings.ts";
import { findRoute, findRouteByHost } from "../../src/devkit/conform/route.ts";
import { KEY_BLOCKS, SECRET_SHAPES } from "../../src/platform/text/secret-shapes.ts";
import { RECORDINGS } from "../support/recordings.ts";

const index = await readRecordings(RECORDINGS);

describe("the recordings of the repository", () => {
  test("are at least four of each protocol, except of Azure and Vertex", () => {
    const counts: Record<string, number> = {};
    for (const recording of index) {
      const { protocol } = findRoute(recording) ?? findRouteByHost(recording)!;
      counts[protocol] = (counts[protocol] ?? 0) + 1;
    }
    // What is missing is in docs/testing.md.
    expect(counts).toEqual({
      anthropic_messages: 7,
      openai_completions: 10,
      openai_responses: 8,
      google_generative_ai: 7,
      google_vertex: 2,
      bedrock_converse_stream: 7,
    });
  });

  test("are the files that the index lists, with their lengths", () => {
    const listed = JSON.parse(readFileSync(join(RECORDINGS, "index.json"), "utf8")) as {
      file: string;
      len: number;
    }[];
    const files = readdirSync(RECORDINGS).filter((file) => !["index.json", "README.md"].includes(file));
    expect(listed.map(({ file }) => file).sort()).toEqual(files.sort());
    expect(listed.filter(({ file, len }) => statSync(join(RECORDINGS, file)).size !== len)).toEqual([]);
  });

  test("contain no keys, and no names of projects", () => {
    const isSuspect = (text: string) =>
      [...SECRET_SHAPES, ...KEY_BLOCKS].some((shape) => text.search(shape) >= 0) ||
      /\bprojects\/(?!p\/)|\/home\/|\/Users\//.test(text);
    const files = readdirSync(RECORDINGS);
    expect(isSuspect("https://x/v1/projects/my-company/locations")).toBe(true);
    expect(isSuspect(`Authorization: Bearer ${"abcdefgh0123".repeat(4)}`)).toBe(true);
    expect(files.filter((file) => isSuspect(readFileSync(join(RECORDINGS, file), "latin1")))).toEqual([]);
  });
});
