import fc from "fast-check";
import { AgentDefinition, type AgentDefinitionInput } from "../../src/schema/definition.ts";
import { Headers } from "../../src/schema/headers.ts";
import { HOOK_POINTS, isUpdatePoint } from "../../src/schema/hooks.ts";
import { OpenAiCompat, Protocol } from "../../src/schema/model.ts";
import { anyGrapheme } from "../support/any-grapheme.ts";
import { anyWebUrl } from "../support/any-web-url.ts";

// Random definitions: everything that code can express.

const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 });
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null, freq: 4 });
const object = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .record(fields)
    .map((made) => Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)));

const wholeNumber = fc.integer({ min: 1, max: 10_000_000 });
const rate = fc.double({ min: 0, max: 100, noNaN: true }).map((value) => (Object.is(value, -0) ? 0 : value));
/** Texts that a format, a reference or a variable might take for something else. */
const text = fc.oneof(
  fc.string({ unit: anyGrapheme, maxLength: 30 }),
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
const networkRules = fc.array(fc.constantFrom("a.example:443", "*.b.example:80", "[::1]:443"), {
  maxLength: 2,
});
const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
const variable = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,8}$/).map((letters) => `\${${letters}}`);

/** What HTTP can send: no line breaks, no control characters, Latin-1. */
const headerName = name.map((letters) => `h${letters}`);
const headerValue = fc.oneof(text, variable).map((value) => value.replace(/[^\t\x20-\x7e\x80-\xff]/g, ""));
/** Random letters can look like a secret, which a definition must not have. */
const isAllowed = (headers: Readonly<Record<string, string>>) => Headers.safeParse(headers).success;

const { maxTokensField, thinkingFormat, ...switches } = OpenAiCompat.shape;
const COMPAT_SWITCHES = Object.keys(switches);
const model = object({
  id: text.filter((id) => id !== ""),
  name: optional(text),
  api: fc.constantFrom(...Protocol.options, "custom_x", "custom_7_of_9"),
  provider: text.filter((provider) => provider !== ""),
  baseUrl: anyWebUrl.map((url) => url.replace(/\/+$/, "")),
  apiKey: optional(variable),
  reasoning: optional(fc.boolean()),
  thinkingStyle: optional(fc.constantFrom("budget", "adaptive", "level")),
  serviceTier: optional(text.filter((tier) => tier !== "")),
  apiVersion: optional(text.filter((version) => version !== "")),
  contextWindow: wholeNumber,
  maxTokens: optional(wholeNumber),
  cost: optional(
    orNull(
      object({
        input: optional(rate),
        output: optional(rate),
        cacheRead: optional(rate),
        cacheWrite: optional(rate),
        dearer: optional(
          object({ above: wholeNumber, input: rate, output: rate, cacheRead: rate, cacheWrite: rate }),
        ),
      }),
    ),
  ),
  headers: optional(
    fc
      .dictionary(fc.stringMatching(/^h[!#$%&'*+.^_`|~0-9A-Za-z-]{0,8}$/), headerValue, { maxKeys: 3 })
      .filter(isAllowed),
  ),
  compat: optional(
    object({
      ...Object.fromEntries(COMPAT_SWITCHES.map((key) => [key, optional(fc.boolean())])),
      maxTokensField: optional(fc.constantFrom(...maxTokensField.unwrap().options)),
      thinkingFormat: optional(fc.constantFrom(...thinkingFormat.unwrap().options)),
    }),
  ),
});

function isPlainKey(key: string): boolean {
  return key !== "__proto__";
}

const policy = {
  timeoutMs: optional(fc.integer({ min: 1, max: 600_000 })),
  onFailure: optional(fc.constantFrom("stop", "continue")),
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
      optional(fc.array(isUpdatePoint(point) ? named : anyHook, { maxLength: 3 })),
    ]),
  ),
);

const oneOrMore = (value: fc.Arbitrary<string>) =>
  fc.oneof(value, fc.array(value, { minLength: 1, maxLength: 2 }));
const rule = object({
  tool: optional(oneOrMore(name)),
  agent: optional(oneOrMore(name)),
  path: optional(oneOrMore(fc.constantFrom("src/**", "/etc/*", "a b"))),
  command: optional(oneOrMore(fc.constantFrom("git push", "rm -rf"))),
  outcome: fc.constantFrom("allow", "ask", "deny"),
  reason: optional(text.filter((said) => said !== "")),
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
  object({ type: fc.constant("json"), name: optional(name) }),
  object({ type: fc.constant("json-schema"), schema, name: optional(name), strict: optional(fc.boolean()) }),
);

const limits = object({
  maxTurns: optional(orNull(wholeNumber)),
  maxTotalTokens: optional(orNull(wholeNumber)),
  maxDurationMs: optional(orNull(wholeNumber)),
  maxCostUsd: optional(orNull(rate.filter((usd) => usd > 0))),
  maxToolCalls: optional(orNull(wholeNumber)),
});

const context = object({
  maxContextTokens: fc.integer({ min: 100_000, max: 1_000_000 }),
  systemPromptTokens: optional(fc.nat(4000)),
  toolOutputMaxLines: optional(fc.nat(99)),
  keepRecent: optional(fc.nat(99)),
  keepFirst: optional(fc.nat(99)),
  compaction: optional(
    object({
      compactAtPct: optional(fc.double({ min: 0.5, max: 1, noNaN: true })),
      budgetThresholdPct: optional(
        fc.double({ min: 0, max: 0.2, noNaN: true }).map((part) => (Object.is(part, -0) ? 0 : part)),
      ),
      scope: optional(
        fc.oneof(
          fc.constant({ type: "token-budget" }),
          object({ type: fc.constant("fixed"), loops: fc.nat(9) }),
        ),
      ),
      keepFirstTurns: optional(fc.nat(9)),
      keepRecentTurns: optional(fc.nat(9)),
      maxSummaryTokens: optional(fc.nat(9)),
      toolOutputMaxLines: optional(fc.nat(9)),
      focusMessage: optional(text),
      strategy: optional(hookName),
    }),
  ),
});

const openapi = object({
  name,
  spec: text.filter((said) => said !== ""),
  baseUrl: optional(anyWebUrl),
  auth: optional(
    fc.oneof(
      fc.constant({ type: "none" }),
      object({ type: fc.constant("bearer"), token: variable }),
      object({
        type: fc.constant("api-key"),
        in: optional(fc.constantFrom("header", "query")),
        name: headerName,
        value: variable,
      }),
      object({
        type: fc.constant("basic"),
        username: fc.oneof(text, variable),
        password: optional(variable),
      }),
    ),
  ),
  headers: optional(fc.dictionary(headerName, headerValue, { maxKeys: 2 }).filter(isAllowed)),
  prefix: optional(name),
  operations: optional(
    object({
      ids: optional(fc.array(hookName, { maxLength: 2 })),
      tags: optional(fc.array(hookName, { maxLength: 2 })),
      pathPrefix: optional(hookName),
    }),
  ),
  replay: optional(fc.dictionary(jsonKey, fc.constantFrom("pure", "idempotent", "unsafe"), { maxKeys: 2 })),
  confirm: optional(fc.array(hookName, { maxLength: 2 })),
  idempotencyHeader: optional(name),
  maxResponseBytes: optional(wholeNumber),
  timeoutMs: optional(fc.integer({ min: 1, max: 3_600_000 })),
  allowRemoteRefs: optional(fc.boolean()),
  limits: optional(
    object({
      maxDocumentBytes: optional(wholeNumber),
      maxDepth: optional(fc.integer({ min: 1, max: 1000 })),
      maxReferences: optional(fc.nat(1000)),
      maxOperations: optional(fc.integer({ min: 1, max: 1000 })),
      maxSchemaBytes: optional(fc.integer({ min: 1024, max: 9999 })),
      readTimeoutMs: optional(fc.integer({ min: 1, max: 600_000 })),
    }),
  ),
});
const apis = fc.uniqueArray(openapi, {
  selector: (api) => (api as { name: string }).name,
  maxLength: 2,
});

const delegation = object({
  maxDepth: optional(fc.integer({ min: 1, max: 10 })),
  maxChildren: optional(orNull(fc.integer({ min: 1, max: 10_000 }))),
});

const mcpText = fc.constantFrom("plain", "${TOKEN}", "a ${TOKEN} b", "$${HOME}", "none", "é😀");
const patterns = fc.array(fc.constantFrom("*", "read_*", "x"), { maxLength: 2 });
const issuer = optional(fc.constant("https://a.example"));
const tokenUrl = fc.constant("https://a.example/t");
const clientAuth = optional(fc.constantFrom("basic", "post"));
const mcpAuth = fc.oneof(
  object({ type: fc.constant("bearer"), token: variable }),
  object({
    type: fc.constant("oauth"),
    clientId: hookName,
    clientSecret: variable,
    scope: optional(text),
    clientAuth,
    tokenUrl,
    issuer,
  }),
  object({
    type: fc.constant("oauth-token"),
    accessToken: variable,
    refreshToken: optional(variable),
    clientId: optional(hookName),
    clientSecret: optional(variable),
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
      args: optional(fc.array(mcpText, { maxLength: 2 })),
      env: optional(fc.dictionary(fc.constantFrom("A", "some_name", "B_C"), mcpText, { maxKeys: 2 })),
      cwd: optional(fc.constantFrom("/srv", "~/x")),
    }),
    object({
      type: fc.constant("http"),
      url: fc.constantFrom("https://a.example/mcp", "http://127.0.0.1:1/"),
      headers: optional(fc.dictionary(fc.constantFrom("x-team", "X_Other"), headerValue, { maxKeys: 2 })),
      auth: optional(mcpAuth),
    }),
  ),
  prefix: optional(fc.constantFrom("", "p")),
  include: optional(patterns),
  exclude: optional(patterns),
  replay: optional(fc.dictionary(fc.constantFrom("read_*", "timeout_ms"), fc.constantFrom("pure", "unsafe"))),
  confirm: optional(patterns),
  trusted: optional(fc.boolean()),
  timeoutMs: optional(wholeNumber),
  maxTimeoutMs: optional(wholeNumber),
  startTimeoutMs: optional(wholeNumber),
  idleMs: optional(wholeNumber),
  concurrency: optional(fc.integer({ min: 1, max: 64 })),
  required: optional(fc.boolean()),
  resources: optional(fc.boolean()),
  sampling: optional(fc.boolean()),
  elicitation: optional(fc.boolean()),
});

const fields = {
  mcp: optional(
    fc.uniqueArray(mcpServer, { selector: (server) => (server as { name: string }).name, maxLength: 3 }),
  ),
  name: optional(
    fc.oneof(
      name,
      text.filter((said) => said !== "" && said.length <= 120),
    ),
  ),
  description: optional(text),
  systemPrompt: optional(text),
  model,
  fallbacks: optional(fc.array(model, { maxLength: 3 })),
  thinking: optional(fc.constantFrom("off", "minimal", "low", "medium", "high", "xhigh", "max")),
  temperature: optional(rate.map((part) => part / 50)),
  maxTokens: optional(wholeNumber),
  configId: optional(name),
  tools: optional(fc.array(text, { maxLength: 4 })),
  strict: optional(fc.boolean()),
  openapi: optional(apis),
  inputFilters: optional(fc.array(hookName, { maxLength: 2 })),
  hooks: optional(hooks),
  transformContext: optional(fc.array(hookName, { maxLength: 2 })),
  convertToLlm: optional(orNull(text.filter((said) => said !== "none"))),
  contextTranslation: optional(orNull(text.filter((said) => said !== "none" && said !== ""))),
  output: optional(output),
  delegation: optional(delegation),
  toolStrategy: optional(
    fc.oneof(
      fc.constantFrom({ type: "sequential" }, { type: "parallel" }),
      object({ type: fc.constant("batched"), size: wholeNumber }),
    ),
  ),
  toolTimeoutMs: optional(orNull(wholeNumber)),
  permissions: optional(
    object({
      rules: optional(fc.array(rule, { maxLength: 3 })),
      otherwise: optional(fc.constantFrom("allow", "ask", "deny", "ask-unsafe")),
    }),
  ),
  context: optional(orNull(context)),
  approvals: optional(
    object({ timeoutMs: optional(orNull(wholeNumber)), countsAsDuration: optional(fc.boolean()) }),
  ),
  nudges: optional(object({ enabled: optional(fc.boolean()), max: optional(fc.nat(9)) })),
  repeatedFailures: optional(
    object({
      warnAfter: optional(fc.integer({ min: 1, max: 9 })),
      endAfter: optional(fc.option(fc.integer({ min: 1, max: 20 }), { nil: null })),
      action: optional(fc.constantFrom("end" as const, "ask" as const)),
    }),
  ),
  revert: optional(object({ shownForTurns: optional(fc.nat(100)), newestOfKind: optional(fc.nat(20)) })),
  workspace: optional(fc.constantFrom("/home/me/project", "/a b/ü", "/")),
  snapshots: optional(fc.constant("git")),
  sessionScope: optional(fc.constantFrom("ephemeral", "persistent")),
  titles: optional(fc.constantFrom("first-words", "model")),
  redact: optional(object({ toolOutput: fc.boolean() })),
  limits: optional(limits),
  retry: optional(
    object({
      maxRetries: optional(fc.nat(100)),
      initialDelayMs: optional(wholeNumber),
      backoffMultiplier: optional(rate.map((by) => by + 1)),
      maxDelayMs: optional(wholeNumber),
    }),
  ),
  cache: optional(
    object({
      enabled: optional(fc.boolean()),
      strategy: optional(
        fc.oneof(
          fc.constantFrom("auto", "disabled"),
          object({ cacheSystem: fc.boolean(), cacheTools: fc.boolean(), cacheMessages: fc.boolean() }),
        ),
      ),
    }),
  ),
  sandbox: optional(
    fc.oneof(
      object({
        mode: fc.constant("off"),
        env: optional(fc.array(name.map((text) => `V_${text.replaceAll("-", "_")}`))),
      }),
      object({
        mode: fc.constantFrom("workspace", "strict"),
        network: optional(object({ allow: optional(networkRules), ask: optional(networkRules) })),
        readable: optional(fc.array(fc.constantFrom("/opt/a", "~/.cache", "/a b/é"), { maxLength: 2 })),
        writable: optional(fc.array(fc.constantFrom("/opt/a", "~/.cache", "/${A}"), { maxLength: 2 })),
        bounds: optional(
          object({
            processes: fc.integer({ min: 8, max: 900 }),
            openFiles: optional(fc.constant(64)),
          }),
        ),
      }),
    ),
  ),
  skills: optional(
    object({
      folders: optional(fc.array(hookName, { maxLength: 3 })),
      names: optional(fc.array(hookName, { maxLength: 3 })),
      allowTools: optional(fc.boolean()),
    }),
  ),
  steeringMode: optional(fc.constantFrom("one-at-a-time", "all")),
  followUpMode: optional(fc.constantFrom("one-at-a-time", "all")),
};

/** The generated fields: a test compares them with the existing ones. */
export const DRAWN_FIELDS = [...Object.keys(fields), "subAgents"];

const leaf = object(fields);
const subAgents = (agent: fc.Arbitrary<unknown>) =>
  optional(
    fc.array(
      object({
        name,
        description: optional(text),
        limits: optional(limits),
        acceptsMaxTurns: optional(fc.boolean()),
        agent,
      }),
      { maxLength: 2 },
    ),
  );

export const anyDefinition: fc.Arbitrary<AgentDefinition> = object({
  ...fields,
  subAgents: subAgents(object({ ...fields, subAgents: subAgents(leaf) })),
}).map((input) => {
  const parsed = AgentDefinition.safeParse(input);
  // A cost limit is rejected if a price is unknown.
  return parsed.success ? parsed.data : AgentDefinition.parse(addPrices(input as unknown as Drawn));
});

type Drawn = {
  readonly model: object;
  readonly fallbacks?: readonly object[];
  readonly subAgents?: readonly { readonly agent: Drawn }[];
};

function addPrices({ model, fallbacks, subAgents, ...others }: Drawn): AgentDefinitionInput {
  return {
    ...others,
    model: withPrice(model),
    ...(fallbacks === undefined ? {} : { fallbacks: fallbacks.map(withPrice) }),
    ...(subAgents === undefined
      ? {}
      : { subAgents: subAgents.map((one) => ({ ...one, agent: addPrices(one.agent) })) }),
  } as AgentDefinitionInput;
}

function withPrice(model: object): object {
  const { cost } = model as { readonly cost?: object | null };
  return { ...model, cost: cost ?? { input: 0 } };
}
