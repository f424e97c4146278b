import { z } from "zod";
import { BY_REFERENCE, HeaderName, Headers, holdsSecret, NO_SECRET_IN_ADDRESS } from "./headers.ts";
import { SecretReference } from "./model.ts";
import { ReplayClass } from "./tool.ts";

// APIs that an agent may call, by their OpenAPI documents; see docs/openapi.md.

/** How requests are authenticated. Secrets are references: the worker resolves them when it sends a request. */
export const OpenApiAuth = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("none") }),
  /** `Authorization: Bearer …` */
  z.strictObject({
    type: z.literal("bearer"),
    token: SecretReference.describe("The token."),
  }),
  z
    .strictObject({
      type: z.literal("api-key"),
      in: z.enum(["header", "query"]).default("header").describe("Where the key is sent."),
      name: z.string().min(1).max(200).describe("The name of the header or the query parameter."),
      value: SecretReference.describe("The key."),
    })
    .refine((auth) => auth.in === "query" || HeaderName.safeParse(auth.name).success, {
      path: ["name"],
      error: 'must be a header name: letters, digits and "-"',
    }),
  /** `Authorization: Basic …` */
  z.strictObject({
    type: z.literal("basic"),
    username: z
      .string()
      .refine((text) => !holdsSecret(text), { error: `looks like a secret; ${BY_REFERENCE}` })
      .describe("The user: the value, or a reference, as some APIs take their key as the user."),
    password: SecretReference.optional().describe("The password; an empty one if absent."),
  }),
]);
export type OpenApiAuth = z.infer<typeof OpenApiAuth>;

/** Which operations become tools: those that meet all of these conditions. */
export const OperationFilter = z.strictObject({
  ids: z.array(z.string().min(1)).max(2000).optional().describe("Operations with any of these ids."),
  tags: z.array(z.string().min(1)).max(200).optional().describe("Operations with any of these tags."),
  pathPrefix: z.string().min(1).optional().describe("Operations whose paths begin like this: `/repos`."),
});
export type OperationFilter = z.infer<typeof OperationFilter>;

const MIB = 1024 * 1024;

/** Limits of reading a document. */
export const OpenApiLimits = z.strictObject({
  maxDocumentBytes: z
    .number()
    .int()
    .min(1)
    .max(256 * MIB)
    .default(32 * MIB)
    .describe("The maximum bytes of all documents together. The largest public ones have 13 MiB."),
  maxDepth: z
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(200)
    .describe("The maximum depth of nested objects and lists."),
  maxReferences: z
    .number()
    .int()
    .min(0)
    .max(10_000_000)
    .default(200_000)
    .describe("The maximum number of `$ref`s in a document."),
  maxOperations: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(2000)
    .describe("The maximum number of tools of one API."),
  maxSchemaBytes: z
    .number()
    .int()
    .min(1024)
    .max(MIB)
    .default(32_768)
    .describe(
      "The maximum bytes of one tool's parameters as JSON; deep parts are cut off to stay within it.",
    ),
  readTimeoutMs: z
    .number()
    .int()
    .min(1)
    .max(600_000)
    .default(60_000)
    .describe("The time limit in milliseconds, from the first byte to the last tool."),
});
export type OpenApiLimits = z.infer<typeof OpenApiLimits>;

/** One API. Defaults: OAPI-04. */
export const OpenApiSettings = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,40}$/)
    .describe("The name in messages and records; unique in a definition."),
  spec: z
    .string()
    .min(1)
    .refine((text) => !holdsSecret(text), NO_SECRET_IN_ADDRESS)
    .describe("The document: an http(s) address, or a file, relative to the workspace or absolute."),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .refine((text) => !holdsSecret(text) && !/^[^/]*\/\/[^/?#]*@/.test(text), NO_SECRET_IN_ADDRESS)
    .optional()
    .describe("Where requests go, in place of the document's servers."),
  auth: OpenApiAuth.default({ type: "none" }).describe(
    "How requests are authenticated; not at all by default.",
  ),
  headers: Headers.default({}).describe(
    "Headers that are sent with every request, after all others. A secret in a value is a reference: `Bearer ${TOKEN}`.",
  ),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,40}$/)
    .optional()
    .describe("The prefix of its tools, which are called `{prefix}__{operationId}`; none if absent."),
  operations: OperationFilter.optional().describe("Which operations become tools; all of them if absent."),
  replay: z
    .record(z.string(), ReplayClass)
    .default({})
    .describe(
      "What a second execution means, by operation id or a glob of ids, in place of the method's class: GET `pure`, PUT and DELETE `idempotent`.",
    ),
  confirm: z
    .array(z.string().min(1))
    .max(2000)
    .default([])
    .describe("Operation ids, or globs of ids, whose calls each need approval."),
  idempotencyHeader: HeaderName.optional().describe(
    "A header for the call's idempotency key, for APIs that support one. Sent with all but pure operations.",
  ),
  maxResponseBytes: z
    .number()
    .int()
    .min(1)
    .max(16 * MIB)
    .default(65_536)
    .describe("The maximum bytes of an answer's text for the model."),
  timeoutMs: z
    .number()
    .int()
    .min(1)
    .max(3_600_000)
    .default(30_000)
    .describe("The time limit in milliseconds, from the request to the end of the answer."),
  allowRemoteRefs: z
    .boolean()
    .default(false)
    .describe("References may point to other documents: files in the same folder, public addresses."),
  limits: OpenApiLimits.default(() => OpenApiLimits.parse({})).describe(
    "The limits of reading the document.",
  ),
});
export type OpenApiSettings = z.infer<typeof OpenApiSettings>;
/** The input from an author: fields with a default are optional. */
export type OpenApiSettingsInput = z.input<typeof OpenApiSettings>;

/** The APIs of one definition. */
export const OpenApis = z
  .array(OpenApiSettings)
  .max(32)
  .refine((apis) => new Set(apis.map(({ name }) => name)).size === apis.length, {
    message: "must have unique names: two APIs have the same name",
  });
