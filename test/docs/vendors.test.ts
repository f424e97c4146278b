import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { formatProblem } from "../../src/config/problem.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import { Protocol } from "../../src/schema/model.ts";
import { load } from "../config/agent-files.ts";
import { createHttp } from "../providers/answer-reader.ts";

const folder = new URL("../../docs/vendors/", import.meta.url);
const registry = ProviderRegistry.createDefault({ http: createHttp() });

/** One's own vendor is registered in code: its page is of TypeScript. */
const pages = readdirSync(folder).filter((name) => name.endsWith(".md") && name !== "custom.md");

describe.each(pages)("docs/vendors/%s", (name) => {
  const page = readFileSync(new URL(name, folder), "utf8");
  const examples = [...page.matchAll(/```toml\n([\s\S]*?)```/g)].map(([, text]) => text!);

  test("its agent files are files of agents, without a doubt, for a protocol that is spoken [DOC-02]", () => {
    expect(examples.length).toBeGreaterThan(0);
    for (const text of examples) {
      const { agents, problems } = load(text);
      expect(problems.map(formatProblem)).toEqual([]);
      for (const { definition } of agents) {
        const { api } = definition.model;
        // A protocol of an application's own is one that the page shows how to speak.
        expect(registry.has(api) || page.includes(`protocol: "${api}"`)).toBe(true);
      }
    }
  });
});

test("each protocol that is built in has a page of its own, whose first example speaks it [DOC-02]", () => {
  const spoken = pages.map((name) => {
    const [, text = ""] = /```toml\n([\s\S]*?)```/.exec(readFileSync(new URL(name, folder), "utf8")) ?? [];
    return load(text).agents[0]?.definition.model.api;
  });
  expect([...spoken].sort()).toEqual([...Protocol.options].sort());
});
