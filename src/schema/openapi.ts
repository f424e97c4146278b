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
    /** The token. */
    token: SecretReference,
  }),
  z
    .strictObject({
      type: z.literal("api-key"),
      /** Where the key is sent. */
      in: z.enum(["header", "query"]).default("header"),
      /** The name of the header or the query parameter. */
      name: z.string().min(1).max(200),
      /** The key. */
      value: SecretReference,
    })
    .refine((auth) => auth.in === "query" || HeaderName.safeParse(auth.name).success, {
      path: ["name"],
      error: 'must be a header name: letters, digits and "-"',
    }),
  /** `Authorization: Basic …` */
  z.strictObject({
    type: z.literal("basic"),
    /** The value, or a reference: some APIs take their key as the user. */
    username: z
      .string()
      .refine((text) => !holdsSecret(text), { error: `looks like a secret; ${BY_REFERENCE}` }),
    /** Absent: an empty password. */
    password: SecretReference.optional(),
  }),
]);
export type OpenApiAuth = z.infer<typeof OpenApiAuth>;

/** Which operations become tools: those that meet all of these conditions. */
export const OperationFilter = z.strictObject({
  /** Operation ids. */
  ids: z.array(z.string().min(1)).max(2000).optional(),
  /** Any of them. */
  tags: z.array(z.string().min(1)).max(200).optional(),
  /** The beginning of their paths: `/repos`. */
  pathPrefix: z.string().min(1).optional(),
});
export type OperationFilter = z.infer<typeof OperationFilter>;

const MIB = 1024 * 1024;

/** Limits of reading a document. */
export const OpenApiLimits = z.strictObject({
  /** All documents together. The largest public ones have 13 MiB. */
  maxDocumentBytes: z
    .number()
    .int()
    .min(1)
    .max(256 * MIB)
    .default(32 * MIB),
  /** The depth of nested objects and lists. */
  maxDepth: z.number().int().min(1).max(1000).default(200),
  /** The number of `$ref`s in a document. */
  maxReferences: z.number().int().min(0).max(10_000_000).default(200_000),
  /** The number of tools of one API. */
  maxOperations: z.number().int().min(1).max(10_000).default(2000),
  /** One tool's parameters as JSON; deep parts are cut off to stay within it. */
  maxSchemaBytes: z.number().int().min(1024).max(MIB).default(32_768),
  /** From the first byte to the last tool. */
  readTimeoutMs: z.number().int().min(1).max(600_000).default(60_000),
});
export type OpenApiLimits = z.infer<typeof OpenApiLimits>;

/** One API. Defaults: OAPI-04. */
export const OpenApiSettings = z.strictObject({
  /** For messages and records; unique in a definition. */
  name: z.string().regex(/^[A-Za-z0-9_-]{1,40}$/),
  /** The document: an http(s) address, or a file, relative to the workspace or absolute. */
  spec: z
    .string()
    .min(1)
    .refine((text) => !holdsSecret(text), NO_SECRET_IN_ADDRESS),
  /** Where requests go, in place of the document's servers. */
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .refine((text) => !holdsSecret(text) && !/^[^/]*\/\/[^/?#]*@/.test(text), NO_SECRET_IN_ADDRESS)
    .optional(),
  /** How requests are authenticated; not at all by default. */
  auth: OpenApiAuth.default({ type: "none" }),
  /** Sent with every request, after all others. A secret in a value is a reference: `Bearer ${TOKEN}`. */
  headers: Headers.default({}),
  /** Tools are called `{prefix}__{operationId}`. */
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,40}$/)
    .optional(),
  /** Absent: all. */
  operations: OperationFilter.optional(),
  /** By operation id, or a glob of ids, in place of the method's class: GET `pure`, PUT and DELETE `idempotent`. */
  replay: z.record(z.string(), ReplayClass).default({}),
  /** Operation ids, or globs of ids, whose calls each need approval. */
  confirm: z.array(z.string().min(1)).max(2000).default([]),
  /** A header for the call's idempotency key, for APIs that support one. Sent with all but pure operations. */
  idempotencyHeader: HeaderName.optional(),
  /** The maximum of an answer's text for the model. */
  maxResponseBytes: z
    .number()
    .int()
    .min(1)
    .max(16 * MIB)
    .default(65_536),
  /** From the request to the end of the answer. */
  timeoutMs: z.number().int().min(1).max(3_600_000).default(30_000),
  /** References may point to other documents: files in the same folder, public addresses. */
  allowRemoteRefs: z.boolean().default(false),
  /** The limits of reading the document. */
  limits: OpenApiLimits.default(() => OpenApiLimits.parse({})),
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
