import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashDefinition } from "../../src/client/runs/hash-definition.ts";
import { writeAgent } from "../../src/config/agent-file/write-agent.ts";
import { formatProblem } from "../../src/config/problem.ts";
import { FORMATS } from "../../src/config/source/source-format.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import { isThorough } from "../support/test-depth.ts";
import { load } from "./agent-files.ts";
import { anyDefinition, DRAWN_FIELDS } from "./any-definition.ts";

/** Variables must not matter: the written file refers only to keys. */
const env = { HOME: "/home/x", A: "a", B_1: "b" };

describe.each(FORMATS)("%s", (format) => {
  test("a random definition has the same hash after it is written and read back [CFG-01.1, CFG-29.1]", () => {
    fc.assert(
      fc.property(anyDefinition, (definition) => {
        const text = writeAgent(definition, format);
        const { agents, problems } = load(text, { format, env });
        const said = problems.filter(({ severity }) => severity === "error").map(formatProblem);
        expect(said, text).toEqual([]);
        expect(agents[0]!.definition, text).toEqual(definition);
        expect(hashDefinition(agents[0]!.definition)).toBe(hashDefinition(definition));
      }),
      { numRuns: isThorough ? 60 : 16 },
    );
  });
});

// The worker writes `pinned` where a loop opens, and `answers` where a suite runs; no author sets them, in a file or in code.
test("every field of a definition is generated, so files can omit none [CFG-29.1]", () => {
  const { pinned: _, answers: _answers, ...said } = AgentDefinition.shape;
  expect([...DRAWN_FIELDS].sort()).toEqual(Object.keys(said).sort());
});
