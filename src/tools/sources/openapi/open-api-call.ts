import { z } from "zod";
import { OpenApiAuth } from "../../../schema/openapi.ts";

// What is kept of an operation for its calls: `data` of its pinned tool.

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
  /** As the model names it. */
  key: z.string(),
  /** As the API names it. */
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  style: Style,
  explode: z.boolean(),
  /** Reserved characters that end nothing stay as they are. */
  reserved: z.literal(true).optional(),
  /** Its value goes as JSON. */
  json: z.literal(true).optional(),
});
export type CallParameter = z.infer<typeof CallParameter>;

/** How one field of a form goes. */
export const FormField = z.object({
  style: Style.optional(),
  explode: z.boolean().optional(),
  reserved: z.literal(true).optional(),
  contentType: z.string().optional(),
  /** Goes as a file. */
  file: z.literal(true).optional(),
});
export type FormField = z.infer<typeof FormField>;

export const CallBody = z.object({
  key: z.string(),
  /** For the header. */
  contentType: z.string(),
  kind: z.enum(["json", "form", "multipart", "text"]),
  /** An object or a list is asked: a text may be the JSON of one. */
  structured: z.literal(true).optional(),
  fields: z.record(z.string(), FormField).optional(),
});
export type CallBody = z.infer<typeof CallBody>;

export const OpenApiCall = z.object({
  label: z.string(),
  method: z.enum(METHODS),
  /** Without a trailing slash. */
  base: z.string(),
  /** `/pets/{petId}` */
  path: z.string(),
  parameters: z.array(CallParameter),
  body: CallBody.optional(),
  auth: OpenApiAuth,
  headers: z.record(z.string(), z.string()),
  idempotencyHeader: z.string().optional(),
  maxResponseBytes: z.number(),
  timeoutMs: z.number(),
  /** Others than the author have said where it is: the host must have a public address. */
  publicOnly: z.literal(true).optional(),
});
export type OpenApiCall = z.infer<typeof OpenApiCall>;
