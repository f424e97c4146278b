import { expect, test } from "vitest";
import { boundOutput, MAX_RESULT_BYTES } from "../../src/activities/tool/bound-output.ts";
import { anthropic } from "../../src/config/vendor-models.ts";
import { createMask } from "../../src/models/secret-masks.ts";
import { listSecrets } from "../../src/models/secrets.ts";

const NO_MASK = createMask([]);
const text = (words: string) => ({ type: "text" as const, text: words });

test("a result within the limit is preserved byte for byte", () => {
  const output = { content: [text("é".repeat(1000))], details: { a: 1 } };
  expect(boundOutput(output, NO_MASK)).toEqual(output);
});

test("a result beyond the limit is cut at a whole character, says so, and leaves no room for the next part", () => {
  const { content } = boundOutput({ content: [text("é".repeat(MAX_RESULT_BYTES)), text("more")] }, NO_MASK);
  const [first, second] = content.map((part) => (part.type === "text" ? part.text : ""));
  expect(first).toBe(`${"é".repeat(MAX_RESULT_BYTES / 2)}\n... (output truncated)`);
  expect(second).toBe("\n... (output truncated)");
});

test("a secret of the model's configuration that a command prints is masked", () => {
  const model = anthropic("m", { headers: { "x-team": "Team ${TEAM_KEY}" } });
  const known: Record<string, string> = {
    ANTHROPIC_API_KEY: "key-of-the-vendor",
    TEAM_KEY: "key-of-the-team",
  };
  const mask = createMask(listSecrets(model, (name) => known[name]));
  const { content } = boundOutput({ content: [text("a key-of-the-vendor b key-of-the-team c")] }, mask);
  expect(content).toEqual([text("a *** b *** c")]);
});
