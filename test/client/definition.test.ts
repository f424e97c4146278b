import { expect, test } from "vitest";
import { parseDefinition } from "../../src/activities/step/definitions.ts";
import { HoldfastError } from "../../src/client/holdfast-error.ts";
import { checkWorkspace, validateDefinition } from "../../src/client/runs/pin-definition.ts";
import { anthropic } from "../../src/config/vendor-models.ts";

const model = anthropic("some-model");

function refusal(work: () => unknown): HoldfastError {
  try {
    work();
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

test("a definition is completed with the defaults", () => {
  expect(validateDefinition({ model })).toMatchObject({ name: "agent", limits: { maxTurns: 50 }, tools: [] });
});

test("all problems are reported at once, and a misspelt key with the name that was meant", () => {
  const definition = {
    model: { ...model, baseUrl: "nowhere", contextWindw: 1 },
    limits: { maxTurn: 3 },
    temperature: 9,
    systmPrompt: "x",
    permissions: { rules: [{ tool: "bash", comand: "ls", outcome: "allow" }] },
  };
  const { code, facts, message } = refusal(() => validateDefinition(definition as never));
  expect(code).toBe("definition-invalid");
  expect(facts.problems).toEqual(
    expect.arrayContaining([
      'limits.maxTurn: unknown key; did you mean "maxTurns"?',
      'systmPrompt: unknown key; did you mean "systemPrompt"?',
      'model.contextWindw: unknown key; did you mean "contextWindow"?',
      'permissions.rules.0.comand: unknown key; did you mean "command"?',
      expect.stringMatching(/^temperature: /),
      expect.stringMatching(/^model\.baseUrl: /),
    ]),
  );
  for (const problem of facts.problems ?? []) expect(message).toContain(problem);
});

test("a batch size below one is rejected by every validator, by its field's name [PHI-13l]", () => {
  for (const size of [0, -1, 1.5]) {
    const definition = { model, toolStrategy: { type: "batched" as const, size } };
    const { code, facts } = refusal(() => validateDefinition(definition));
    expect(code).toBe("definition-invalid");
    expect(facts.problems).toEqual([expect.stringMatching(/^toolStrategy\.size: /)]);
    expect(() => parseDefinition(definition)).toThrow(/The definition is not valid: toolStrategy\.size: /);
  }
  const one = { model, toolStrategy: { type: "batched" as const, size: 1 } };
  expect(validateDefinition(one).toolStrategy).toEqual(one.toolStrategy);
});

test("a key in place of its reference is rejected without being repeated", () => {
  const key = "sk-ant-0123456789abcdef";
  const { message } = refusal(() => validateDefinition({ model: { ...model, apiKey: key } }));
  expect(message).toContain("model.apiKey");
  expect(message).not.toContain(key);
});

test.each([
  ["/no/such/folder", "the folder does not exist"],
  ["relative/folder", "not an absolute path"],
  [import.meta.filename, "it is not a folder"],
])("the workspace %s is rejected: %s", async (workspace, said) => {
  await expect(checkWorkspace({ ...validateDefinition({ model }), workspace })).rejects.toMatchObject({
    code: "workspace-invalid",
    message: expect.stringContaining(said),
  });
});

test.each([
  [{ output: { type: "json", nmae: "x" } }, 'output.nmae: unknown key; did you mean "name"?'],
  [
    { hooks: { "before-turn": [{ name: "a", timeoutMS: 5 }] } },
    'hooks.before-turn.0.timeoutMS: unknown key; did you mean "timeoutMs"?',
  ],
])("a misspelt key in one variant of a union is reported with the name that was meant", (wrong, said) => {
  expect(() => validateDefinition({ model, ...wrong } as never)).toThrow(said);
});
