import fc from "fast-check";
import { AgentDefinition, type AgentDefinitionInput } from "../../src/schema/definition.ts";
import { HOOK_POINTS, isUpdatePoint } from "../../src/schema/hooks.ts";
import { OpenAiCompat, Protocol } from "../../src/schema/model.ts";

// Random definitions: everything that can be said in code.

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 });
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null, freq: 4 });
const object = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .record(fields)
    .map((made) => Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)));

const whole = fc.integer({ min: 1, max: 10_000_000 });
const rate = fc.double({ min: 0, max: 100, noNaN: true }).map((value) => (Object.is(value, -0) ? 0 : value));
/** Texts that a format, a reference or a variable might take for something else. */
const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.constantFrom(
    "",
    "true",
    "null",
    "~",
    "12",
    "0x1f",
    "1e3",
    "- a",
    "a: b",
    "# c",
    "'",
    '"""',
    "\\",
    "a\nb\r\n\tc\n",
    " x ",
    "\u007f",
    "1979-05-27",
    "${HOME}",
    "$${HOME}",
    "1${A}2",
    "12345678$${A}",
    "${",
    "{{a}}",
    "{{%a.b%}}",
    "file:x.md",
    "none",
    "é😀",
    "<<",
    "*a",
    "&a",
    "@",
    "`",
  ),
  fc.tuple(fc.string(), fc.constantFrom("${A}", "$$${B_1}", "\n", "\\u0041")).map((parts) => parts.join("")),
);
const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
const variable = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,8}$/).map((letters) => `\${${letters}}`);

const { maxTokensField, thinkingFormat, ...switches } = OpenAiCompat.shape;
const COMPAT_SWITCHES = Object.keys(switches);
const model = object({
  id: text.filter((id) => id !== ""),
  name: maybe(text),
  api: fc.constantFrom(...Protocol.options, "custom_x", "custom_7_of_9"),
  provider: text.filter((provider) => provider !== ""),
  baseUrl: fc.webUrl().map((url) => url.replace(/\/+$/, "")),
  apiKey: maybe(variable),
  reasoning: maybe(fc.boolean()),
  thinkingStyle: maybe(fc.constantFrom("budget", "adaptive", "level")),
  serviceTier: maybe(text.filter((tier) => tier !== "")),
  apiVersion: maybe(text.filter((version) => version !== "")),
  contextWindow: whole,
  maxTokens: maybe(whole),
  cost: maybe(
    orNull(
      object({
        input: maybe(rate),
        output: maybe(rate),
        cacheRead: maybe(rate),
        cacheWrite: maybe(rate),
        dearer: maybe(object({ above: whole, input: rate, output: rate, cacheRead: rate, cacheWrite: rate })),
      }),
    ),
  ),
  headers: maybe(
    fc.dictionary(fc.string({ minLength: 1, maxLength: 9 }).filter(isPlainKey), fc.oneof(text, variable), {
      maxKeys: 3,
    }),
  ),
  compat: maybe(
    object({
      ...Object.fromEntries(COMPAT_SWITCHES.map((key) => [key, maybe(fc.boolean())])),
      maxTokensField: maybe(fc.constantFrom(...maxTokensField.unwrap().options)),
      thinkingFormat: maybe(fc.constantFrom(...thinkingFormat.unwrap().options)),
    }),
  ),
});

function isPlainKey(key: string): boolean {
  return key !== "__proto__";
}

const policy = {
  timeoutMs: maybe(fc.integer({ min: 1, max: 600_000 })),
  onFailure: maybe(fc.constantFrom("stop", "go-on")),
};
const hookName = text.filter((said) => said !== "");
const named = fc.oneof(hookName, object({ name: hookName, ...policy }));
const anyHook = fc.oneof(
  named,
  object({ command: fc.oneof(hookName, fc.array(text, { minLength: 1, maxLength: 3 })), ...policy }),
);
const hooks = object(
  Object.fromEntries(
    HOOK_POINTS.map((point) => [
      point,
      maybe(fc.array(isUpdatePoint(point) ? named : anyHook, { maxLength: 3 })),
    ]),
  ),
);

const oneOrMore = (value: fc.Arbitrary<string>) =>
  fc.oneof(value, fc.array(value, { minLength: 1, maxLength: 2 }));
const rule = object({
  tool: maybe(oneOrMore(name)),
  agent: maybe(oneOrMore(name)),
  path: maybe(oneOrMore(fc.constantFrom("src/**", "/etc/*", "a b"))),
  command: maybe(oneOrMore(fc.constantFrom("git push", "rm -rf"))),
  outcome: fc.constantFrom("allow", "ask", "deny"),
  reason: maybe(text.filter((said) => said !== "")),
});

const jsonKey = fc.string({ maxLength: 8 }).filter(isPlainKey);
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(jsonKey, tie("value"), { maxKeys: 3 }),
  ),
})).value;
const schema = fc.dictionary(jsonKey, json, { maxKeys: 4 }).map((made) => ({ ...made, type: "object" }));
const output = fc.oneof(
  fc.constant({ type: "text" }),
  object({ type: fc.constant("json"), name: maybe(name) }),
  object({ type: fc.constant("json-schema"), schema, name: maybe(name), strict: maybe(fc.boolean()) }),
);

const limits = object({
  maxTurns: maybe(orNull(whole)),
  maxTotalTokens: maybe(orNull(whole)),
  maxDurationMs: maybe(orNull(whole)),
  maxCostUsd: maybe(orNull(rate.filter((usd) => usd > 0))),
});

const context = object({
  maxContextTokens: fc.integer({ min: 100_000, max: 1_000_000 }),
  systemPromptTokens: maybe(fc.nat(4000)),
  toolOutputMaxLines: maybe(fc.nat(99)),
  keepRecent: maybe(fc.nat(99)),
  keepFirst: maybe(fc.nat(99)),
  compaction: maybe(
    object({
      compactAtPct: maybe(fc.double({ min: 0.5, max: 1, noNaN: true })),
      budgetThresholdPct: maybe(
        fc.double({ min: 0, max: 0.2, noNaN: true }).map((part) => (Object.is(part, -0) ? 0 : part)),
      ),
      scope: maybe(
        fc.oneof(
          fc.constant({ type: "token-budget" }),
          object({ type: fc.constant("fixed"), loops: fc.nat(9) }),
        ),
      ),
      keepFirstTurns: maybe(fc.nat(9)),
      keepRecentTurns: maybe(fc.nat(9)),
      maxSummaryTokens: maybe(fc.nat(9)),
      toolOutputMaxLines: maybe(fc.nat(9)),
      focusMessage: maybe(text),
      strategy: maybe(hookName),
    }),
  ),
});

const openapi = object({
  name,
  spec: text.filter((said) => said !== ""),
  baseUrl: maybe(fc.webUrl()),
  auth: maybe(
    fc.oneof(
      fc.constant({ type: "none" }),
      object({ type: fc.constant("bearer"), token: variable }),
      object({
        type: fc.constant("api-key"),
        in: maybe(fc.constantFrom("header", "query")),
        name: hookName,
        value: variable,
      }),
      object({ type: fc.constant("basic"), username: fc.oneof(text, variable), password: maybe(variable) }),
    ),
  ),
  headers: maybe(fc.dictionary(name, fc.oneof(text, variable), { maxKeys: 2 })),
  prefix: maybe(name),
  operations: maybe(
    object({
      ids: maybe(fc.array(hookName, { maxLength: 2 })),
      tags: maybe(fc.array(hookName, { maxLength: 2 })),
      pathPrefix: maybe(hookName),
    }),
  ),
  replay: maybe(fc.dictionary(jsonKey, fc.constantFrom("pure", "idempotent", "unsafe"), { maxKeys: 2 })),
  confirm: maybe(fc.array(hookName, { maxLength: 2 })),
  idempotencyHeader: maybe(name),
  maxResponseBytes: maybe(whole),
  timeoutMs: maybe(fc.integer({ min: 1, max: 3_600_000 })),
  allowRemoteRefs: maybe(fc.boolean()),
  limits: maybe(
    object({
      maxDocumentBytes: maybe(whole),
      maxDepth: maybe(fc.integer({ min: 1, max: 1000 })),
      maxReferences: maybe(fc.nat(1000)),
      maxOperations: maybe(fc.integer({ min: 1, max: 1000 })),
      maxSchemaBytes: maybe(fc.integer({ min: 1024, max: 9999 })),
      readTimeoutMs: maybe(fc.integer({ min: 1, max: 600_000 })),
    }),
  ),
});
const apis = fc.uniqueArray(openapi, {
  selector: (api) => (api as { name: string }).name,
  maxLength: 2,
});

const delegation = object({
  maxDepth: maybe(fc.integer({ min: 1, max: 10 })),
  maxChildren: maybe(orNull(fc.integer({ min: 1, max: 10_000 }))),
});

const mcpText = fc.constantFrom("plain", "${TOKEN}", "a ${TOKEN} b", "$${HOME}", "none", "é😀");
const patterns = fc.array(fc.constantFrom("*", "read_*", "x"), { maxLength: 2 });
const issuer = maybe(fc.constant("https://a.example"));
const tokenUrl = fc.constant("https://a.example/t");
const clientAuth = maybe(fc.constantFrom("basic", "post"));
const mcpAuth = fc.oneof(
  object({ type: fc.constant("bearer"), token: variable }),
  object({
    type: fc.constant("oauth"),
    clientId: hookName,
    clientSecret: variable,
    scope: maybe(text),
    clientAuth,
    tokenUrl,
    issuer,
  }),
  object({
    type: fc.constant("oauth-token"),
    accessToken: variable,
    refreshToken: maybe(variable),
    clientId: maybe(hookName),
    clientSecret: maybe(variable),
    clientAuth,
    tokenUrl,
    issuer,
  }),
);
const mcpServer = object({
  name,
  transport: fc.oneof(
    object({
      type: fc.constant("stdio"),
      command: fc.constantFrom("npx", "./server ${HOME}"),
      args: maybe(fc.array(mcpText, { maxLength: 2 })),
      env: maybe(fc.dictionary(fc.constantFrom("A", "some_name", "B_C"), mcpText, { maxKeys: 2 })),
      cwd: maybe(fc.constantFrom("/srv", "~/x")),
    }),
    object({
      type: fc.constant("http"),
      url: fc.constantFrom("https://a.example/mcp", "http://127.0.0.1:1/"),
      headers: maybe(fc.dictionary(fc.constantFrom("x-team", "X_Other"), mcpText, { maxKeys: 2 })),
      auth: maybe(mcpAuth),
    }),
  ),
  prefix: maybe(fc.constantFrom("", "p")),
  include: maybe(patterns),
  exclude: maybe(patterns),
  replay: maybe(fc.dictionary(fc.constantFrom("read_*", "timeout_ms"), fc.constantFrom("pure", "unsafe"))),
  confirm: maybe(patterns),
  trusted: maybe(fc.boolean()),
  timeoutMs: maybe(whole),
  maxTimeoutMs: maybe(whole),
  startTimeoutMs: maybe(whole),
  idleMs: maybe(whole),
  concurrency: maybe(fc.integer({ min: 1, max: 64 })),
  required: maybe(fc.boolean()),
  resources: maybe(fc.boolean()),
  sampling: maybe(fc.boolean()),
  elicitation: maybe(fc.boolean()),
});

const fields = {
  mcp: maybe(
    fc.uniqueArray(mcpServer, { selector: (server) => (server as { name: string }).name, maxLength: 3 }),
  ),
  name: maybe(
    fc.oneof(
      name,
      text.filter((said) => said !== "" && said.length <= 120),
    ),
  ),
  description: maybe(text),
  systemPrompt: maybe(text),
  model,
  fallbacks: maybe(fc.array(model, { maxLength: 3 })),
  thinking: maybe(fc.constantFrom("off", "minimal", "low", "medium", "high", "xhigh", "max")),
  temperature: maybe(rate.map((part) => part / 50)),
  maxTokens: maybe(whole),
  configId: maybe(name),
  tools: maybe(fc.array(text, { maxLength: 4 })),
  strict: maybe(fc.boolean()),
  openapi: maybe(apis),
  inputFilters: maybe(fc.array(hookName, { maxLength: 2 })),
  hooks: maybe(hooks),
  transformContext: maybe(fc.array(hookName, { maxLength: 2 })),
  convertToLlm: maybe(orNull(text.filter((said) => said !== "none"))),
  output: maybe(output),
  delegation: maybe(delegation),
  toolStrategy: maybe(
    fc.oneof(
      fc.constantFrom({ type: "sequential" }, { type: "parallel" }),
      object({ type: fc.constant("batched"), size: whole }),
    ),
  ),
  toolTimeoutMs: maybe(orNull(whole)),
  permissions: maybe(
    object({
      rules: maybe(fc.array(rule, { maxLength: 3 })),
      otherwise: maybe(fc.constantFrom("allow", "ask", "deny", "ask-unsafe")),
    }),
  ),
  context: maybe(orNull(context)),
  approvals: maybe(object({ timeoutMs: maybe(orNull(whole)), countsAsDuration: maybe(fc.boolean()) })),
  nudges: maybe(object({ enabled: maybe(fc.boolean()), max: maybe(fc.nat(9)) })),
  repeatedFailures: maybe(
    object({
      tellAfter: maybe(fc.integer({ min: 1, max: 9 })),
      endAfter: maybe(fc.option(fc.integer({ min: 1, max: 20 }), { nil: null })),
      action: maybe(fc.constantFrom("end" as const, "ask" as const)),
    }),
  ),
  revert: maybe(object({ shownForTurns: maybe(fc.nat(100)), newestOfKind: maybe(fc.nat(20)) })),
  workspace: maybe(fc.constantFrom("/home/me/project", "/a b/ü", "/")),
  snapshots: maybe(fc.constant("git")),
  sessionScope: maybe(fc.constantFrom("ephemeral", "persistent")),
  redact: maybe(object({ toolOutput: fc.boolean() })),
  limits: maybe(limits),
  retry: maybe(
    object({
      maxRetries: maybe(fc.nat(100)),
      initialDelayMs: maybe(whole),
      backoffMultiplier: maybe(rate.map((by) => by + 1)),
      maxDelayMs: maybe(whole),
    }),
  ),
  cache: maybe(
    object({
      enabled: maybe(fc.boolean()),
      strategy: maybe(
        fc.oneof(
          fc.constantFrom("auto", "disabled"),
          object({ cacheSystem: fc.boolean(), cacheTools: fc.boolean(), cacheMessages: fc.boolean() }),
        ),
      ),
    }),
  ),
  skills: maybe(
    object({
      folders: maybe(fc.array(hookName, { maxLength: 3 })),
      names: maybe(fc.array(hookName, { maxLength: 3 })),
      allowTools: maybe(fc.boolean()),
    }),
  ),
  steeringMode: maybe(fc.constantFrom("one-at-a-time", "all")),
  followUpMode: maybe(fc.constantFrom("one-at-a-time", "all")),
};

/** The fields that are drawn: a test holds them against those that there are. */
export const DRAWN_FIELDS = [...Object.keys(fields), "subAgents"];

const leaf = object(fields);
const subAgents = (agent: fc.Arbitrary<unknown>) =>
  maybe(fc.array(object({ name, description: maybe(text), limits: maybe(limits), agent }), { maxLength: 2 }));

export const anyDefinition: fc.Arbitrary<AgentDefinition> = object({
  ...fields,
  subAgents: subAgents(object({ ...fields, subAgents: subAgents(leaf) })),
}).map((input) => {
  const parsed = AgentDefinition.safeParse(input);
  // A cost limit is refused where a price is unknown.
  return parsed.success ? parsed.data : AgentDefinition.parse(priced(input as unknown as Drawn));
});

type Drawn = {
  readonly model: object;
  readonly fallbacks?: readonly object[];
  readonly subAgents?: readonly { readonly agent: Drawn }[];
};

function priced({ model, fallbacks, subAgents, ...rest }: Drawn): AgentDefinitionInput {
  return {
    ...rest,
    model: withPrice(model),
    ...(fallbacks === undefined ? {} : { fallbacks: fallbacks.map(withPrice) }),
    ...(subAgents === undefined
      ? {}
      : { subAgents: subAgents.map((one) => ({ ...one, agent: priced(one.agent) })) }),
  } as AgentDefinitionInput;
}

function withPrice(model: object): object {
  const { cost } = model as { readonly cost?: object | null };
  return { ...model, cost: cost ?? { input: 0 } };
}
