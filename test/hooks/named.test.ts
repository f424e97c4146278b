import { expect, test } from "vitest";
import { NamedRegistry } from "../../src/hooks/named-registry.ts";

test("functions are found by name, including those of plug-ins [CB-09.2, TMP-10.1]", () => {
  const named = new NamedRegistry("context transform", { "rag::inject": 1, plain: 2 });
  expect(named.names).toEqual(["plain", "rag::inject"]);
  expect(named.get("rag::inject")).toBe(1);
  expect(named.get("toString")).toBeUndefined();
});

test("an empty name and the name of a built-in function are rejected [TMP-10.2]", () => {
  expect(() => new NamedRegistry("context transform", { " ": 1 })).toThrow(/must have a name/);
  expect(() => new NamedRegistry("compaction strategy", { block: 1 }, ["block"])).toThrow(
    /"block", which is built in/,
  );
});
