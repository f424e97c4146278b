import { expect, test } from "vitest";
import { z } from "zod";
import * as exported from "../../src/schema/index.ts";
import { checkDescriptions } from "../support/property-descriptions.ts";

const toDocument = (schema: z.ZodType) => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });

test("every property of a definition's JSON Schema has a description", () => {
  const { all, bare } = checkDescriptions(toDocument(exported.AgentDefinition));
  expect(all.length).toBeGreaterThan(300);
  expect(bare).toEqual([]);
});

test("so has every property of all other exported schemas", () => {
  const bare = Object.entries(exported).flatMap(([name, schema]) =>
    schema instanceof z.ZodType
      ? checkDescriptions(toDocument(schema)).bare.map((place) => name + place)
      : [],
  );
  expect(bare).toEqual([]);
});
