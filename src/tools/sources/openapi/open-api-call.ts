import { z } from "zod";
import { OpenApiAuth } from "../../../schema/openapi.ts";

// The stored data of an operation for its calls: `data` of its pinned tool.

export const METHODS = ["get", "head", "options", "put", "delete", "post", "patch"] as const;
export type Method = (typeof METHODS)[number];

export const STYLES = [
  "simple",
  "label",
  "matrix",
  "form",
  "spaceDelimited",
  "pipeDelimited",
  "deepObject",
] as const;
export const Style = z.enum(STYLES);
export type Style = z.infer<typeof Style>;

export const CallParameter = z.object({
  /** The name for the model. */
  key: z.string(),
  /** The name in the API. */
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  style: Style,
  explode: z.boolean(),
  /** Reserved characters that do not end the value are not encoded. */
  reserved: z.literal(true).optional(),
  /** The value is serialised as JSON. */
  json: z.literal(true).optional(),
});
export type CallParameter = z.infer<typeof CallParameter>;

/** How one field of a form is serialised. */
export const FormField = z.object({
  style: Style.optional(),
  explode: z.boolean().optional(),
  reserved: z.literal(true).optional(),
  contentType: z.string().optional(),
  /** The field is sent as a file. */
  file: z.literal(true).optional(),
});
export type FormField = z.infer<typeof FormField>;

export const CallBody = z.object({
  key: z.string(),
  /** The value of the header. */
  contentType: z.string(),
  kind: z.enum(["json", "form", "multipart", "text"]),
  /** The schema expects an object or a list, so text may be the JSON of one. */
  structured: z.literal(true).optional(),
  fields: z.record(z.string(), FormField).optional(),
});
export type CallBody = z.infer<typeof CallBody>;

export const OpenApiCall = z.object({
  label: z.string(),
  method: z.enum(METHODS),
  /** Without a trailing slash. */
  base: z.string(),
  /** For example `/pets/{petId}`. */
  path: z.string(),
  parameters: z.array(CallParameter),
  body: CallBody.optional(),
  auth: OpenApiAuth,
  headers: z.record(z.string(), z.string()),
  idempotencyHeader: z.string().optional(),
  maxResponseBytes: z.number(),
  timeoutMs: z.number(),
  /** The document chose the server, not the author: its host must have a public address. */
  publicOnly: z.literal(true).optional(),
});
export type OpenApiCall = z.infer<typeof OpenApiCall>;
