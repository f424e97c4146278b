import { expect, test } from "vitest";
import { buildConfigSnapshot } from "../../src/conversation/config-snapshot.ts";
import { ConfigSnapshot } from "../../src/schema/agent-event.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";

const MODEL = {
  id: "m-1",
  api: "openai_completions",
  provider: "local",
  baseUrl: "http://models.example/v1",
  contextWindow: 64_000,
};

const snapshot = (definition: object, model: object = {}) =>
  buildConfigSnapshot(AgentDefinition.parse({ model: { ...MODEL, ...model }, ...definition }), "hash");

test("a snapshot of the least definition has the model and its limits, and no unset field [SES-04.1]", () => {
  expect(snapshot({})).toStrictEqual({
    definitionHash: "hash",
    model: "m-1",
    provider: "local",
    api: "openai_completions",
    baseUrl: "http://models.example/v1",
    contextWindow: 64_000,
    maxTokens: 8192,
  });
});

test("each field that a definition sets is in its snapshot [SES-04.1]", () => {
  const definition = { thinking: "high", temperature: 0, configId: "careful", maxTokens: 77 };
  const full = snapshot(definition, { name: "Model One", reasoning: true, maxTokens: 500 });
  expect(full).toStrictEqual({
    definitionHash: "hash",
    model: "m-1",
    provider: "local",
    configId: "careful",
    name: "Model One",
    api: "openai_completions",
    baseUrl: "http://models.example/v1",
    reasoning: true,
    contextWindow: 64_000,
    maxTokens: 77,
    thinking: "high",
    temperature: 0,
  });
  expect(ConfigSnapshot.parse(full)).toEqual(full);
});

test("without its own, the maximum of an answer is the model's [SES-04.1]", () => {
  expect(snapshot({}, { maxTokens: 500 }).maxTokens).toBe(500);
});

test("a snapshot contains no keys, headers, prompts, or secrets in an address, even of a definition that has them [SES-04.2]", () => {
  const secret = "hunter2-very-secret";
  // An address with a password is rejected in a definition; a record may be older than that rule.
  const { model, ...rest } = AgentDefinition.parse({ model: MODEL, systemPrompt: secret });
  const baseUrl = `https://user:${secret}@p@models.example:8443/v1/x?key=${secret}#${secret}`;
  const secretive = { ...model, baseUrl, apiKey: secret, headers: { authorization: secret } };
  const made = buildConfigSnapshot({ ...rest, model: secretive }, "hash");
  expect(JSON.stringify(made)).not.toContain(secret);
  expect(made.baseUrl).toBe("https://models.example:8443/v1/x");
});
