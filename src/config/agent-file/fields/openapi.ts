import { z } from "zod";
import { isObject } from "../../../platform/text/json.ts";
import { OpenApiSettings } from "../../../schema/openapi.ts";
import { ReplayClass } from "../../../schema/tool.ts";
import {
  defineField,
  describeKey,
  describeRequiredKey,
  type Field,
  integerFrom,
  withExpected,
} from "../define-field.ts";

// [[openapi.instances]]: APIs whose operations are tools (OAPI-04, OAPI-05).

const DEFAULTS = OpenApiSettings.parse({ name: "-", spec: "-" });

const SECRET = "the environment variable that holds it, as ${NAME}, never the secret itself";
const Secret = withExpected(z.string().regex(/^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/, `must be ${SECRET}`), SECRET);
const Name = withExpected(z.string().regex(/^[A-Za-z0-9_-]{1,40}$/), "1 to 40 letters, digits, - or _");

const Auth = withExpected(
  z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("none") }),
    z.strictObject({ type: z.literal("bearer"), token: describeRequiredKey(Secret, "The token.") }),
    z.strictObject({
      type: z.literal("api-key"),
      in: describeKey(z.enum(["header", "query"]), "Where the key is sent.", "header"),
      name: describeRequiredKey(z.string().min(1).max(200), "The name of the header or the query parameter."),
      value: describeRequiredKey(Secret, "The key."),
    }),
    z.strictObject({
      type: z.literal("basic"),
      username: describeRequiredKey(z.string(), "The user: the value, or a reference to a variable."),
      password: describeKey(Secret, "The password; an empty one by default."),
    }),
  ]),
  '{ type = "none" }, { type = "bearer", token = "${NAME}" }, { type = "api-key", in = "header" or "query", name = …, value = "${NAME}" } or { type = "basic", username = …, password = "${NAME}" }',
);

const Filter = z.strictObject({
  ids: describeKey(z.array(z.string().min(1)).max(2000), "Operation ids."),
  tags: describeKey(z.array(z.string().min(1)).max(200), "Operations with any of these tags."),
  path_prefix: describeKey(z.string().min(1), "The beginning of the operations' paths."),
});

const Limits = z.strictObject({
  max_document_bytes: describeKey(
    integerFrom(1, 268_435_456),
    "The maximum total size of the documents, in bytes.",
    DEFAULTS.limits.maxDocumentBytes,
  ),
  max_depth: describeKey(integerFrom(1, 1000), "The maximum nesting of tables.", DEFAULTS.limits.maxDepth),
  max_references: describeKey(
    integerFrom(0, 10_000_000),
    "The maximum number of `$ref`s of a document.",
    DEFAULTS.limits.maxReferences,
  ),
  max_operations: describeKey(
    integerFrom(1, 10_000),
    "The maximum number of tools of the API.",
    DEFAULTS.limits.maxOperations,
  ),
  max_schema_bytes: describeKey(
    integerFrom(1024, 1_048_576),
    "The maximum size of one tool's parameters as JSON, in bytes; deeply nested parts are cut off.",
    DEFAULTS.limits.maxSchemaBytes,
  ),
  read_timeout_secs: describeKey(
    z.number().positive().max(600),
    "The time limit for reading the document.",
    DEFAULTS.limits.readTimeoutMs / 1000,
  ),
});

const Instance = z.strictObject({
  name: describeRequiredKey(Name, "Its name in messages."),
  spec: describeRequiredKey(
    withExpected(z.string().min(1), "an http(s) address, or a file relative to the workspace"),
    "The OpenAPI document (3.0 or 3.1, JSON or YAML): an http(s) address, or a file relative to the workspace.",
  ),
  base_url: describeKey(
    withExpected(z.url({ protocol: /^https?$/ }), "a URL such as https://HOST/v1"),
    "The address that requests go to, instead of the document's servers.",
  ),
  auth: describeKey(
    Auth,
    "How requests are authenticated. The worker reads the secrets when it sends a request.",
    {
      type: "none",
    },
  ),
  headers: describeKey(
    z.record(z.string(), z.string()),
    "Sent with every request. The worker replaces `${NAME}` in a value.",
  ),
  prefix: describeKey(Name, "Tools are named `PREFIX__OPERATION`."),
  operations: describeKey(
    Filter,
    "The operations that become tools: those that match all of these filters; all operations by default.",
  ),
  replay: describeKey(
    z.record(z.string(), ReplayClass),
    "The effect of a second execution, by operation id or a glob of ids. By default GET is pure, PUT and DELETE are idempotent, all others unsafe.",
  ),
  confirm: describeKey(
    z.array(z.string().min(1)).max(2000),
    "Operation ids, or globs of ids, whose calls need a user's approval.",
    [],
  ),
  idempotency_header: describeKey(
    z.string().min(1).max(200),
    "The header that carries the idempotency key of a call that does more than read.",
  ),
  max_response_bytes: describeKey(
    integerFrom(1, 16_777_216),
    "The maximum size of an answer for the model, in bytes.",
    DEFAULTS.maxResponseBytes,
  ),
  timeout_secs: describeKey(
    z.number().positive().max(3600),
    "The time limit of one request.",
    DEFAULTS.timeoutMs / 1000,
  ),
  allow_remote_refs: describeKey(
    z.boolean(),
    "References may point to other documents: files in the same folder, public addresses.",
    false,
  ),
  limits: describeKey(Limits, "Limits for reading the document."),
});

/** Keys that have other names or units in the definition. */
const SECONDS: Readonly<Record<string, string>> = {
  timeout_secs: "timeoutMs",
  read_timeout_secs: "readTimeoutMs",
};

const toCamelCase = (key: string) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const toSnakeCase = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Tables whose keys belong to the format; the author chooses the keys of all others. */
const BUILT_IN_KEYS = ["operations", "limits", "auth"];

function parseSource(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const seconds = SECONDS[key];
      if (seconds !== undefined)
        return [seconds, typeof inner === "number" ? Math.round(inner * 1000) : inner];
      return [toCamelCase(key), BUILT_IN_KEYS.includes(key) ? parseSource(inner) : inner];
    }),
  );
}

/** Returns the table without default values. */
function formatSource(value: unknown, defaults: unknown): unknown {
  if (!isObject(value)) return value;
  const known = isObject(defaults) ? defaults : {};
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => inner !== undefined && JSON.stringify(inner) !== JSON.stringify(known[key]))
      .map(([key, inner]) => {
        const seconds = Object.entries(SECONDS).find(([, to]) => to === key)?.[0];
        if (seconds !== undefined) return [seconds, (inner as number) / 1000];
        const isBuiltIn = BUILT_IN_KEYS.includes(key);
        return [
          toSnakeCase(key),
          isBuiltIn ? formatSource(inner, key === "limits" ? DEFAULTS.limits : {}) : inner,
        ];
      }),
  );
}

const defineList = (each: (value: unknown) => unknown) => (value: unknown) =>
  Array.isArray(value) ? value.map(each) : value;

export const OPENAPI_FIELDS: readonly Field[] = [
  defineField(
    "openapi.instances",
    "openapi",
    describeKey(z.array(Instance).max(32), "APIs whose operations are tools; see docs/openapi.md.", []),
    {
      read: defineList(parseSource),
      write: defineList((value) => formatSource(value, { ...DEFAULTS, name: undefined, spec: undefined })),
    },
  ),
];

/** Keys of `auth` whose values the worker reads; a file never contains them. */
export const AUTH_SECRETS: readonly string[] = ["token", "value", "username", "password"];
