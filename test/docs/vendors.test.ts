import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { formatProblem } from "../../src/config/problem.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import { Protocol } from "../../src/schema/model.ts";
import { load } from "../config/agent-files.ts";
import { createHttp } from "../providers/answer-reader.ts";

const folder = new URL("../../docs/vendors/", import.meta.url);
const registry = ProviderRegistry.createDefault({ http: createHttp() });

/** An application registers its own vendor in code, so its page uses TypeScript. */
const pages = readdirSync(folder).filter((name) => name.endsWith(".md") && name !== "custom.md");

describe.each(pages)("docs/vendors/%s", (name) => {
  const page = readFileSync(new URL(name, folder), "utf8");
  const examples = [...page.matchAll(/```toml\n([\s\S]*?)```/g)].map(([, text]) => text!);

  test("its agent files load without a warning, for a protocol that exists [DOC-02.2]", () => {
    expect(examples.length).toBeGreaterThan(0);
    for (const text of examples) {
      const { agents, problems } = load(text);
      expect(problems.map(formatProblem)).toEqual([]);
      for (const { definition } of agents) {
        const { api } = definition.model;
        // The page shows how to implement an application's own protocol.
        expect(registry.has(api) || page.includes(`protocol: "${api}"`)).toBe(true);
      }
    }
  });
});

test("each built-in protocol has a page of its own, whose first example uses it [DOC-02.1]", () => {
  const spoken = pages.map((name) => {
    const [, text = ""] = /```toml\n([\s\S]*?)```/.exec(readFileSync(new URL(name, folder), "utf8")) ?? [];
    return load(text).agents[0]?.definition.model.api;
  });
  expect([...spoken].sort()).toEqual([...Protocol.options].sort());
});
