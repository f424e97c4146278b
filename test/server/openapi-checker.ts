import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "vitest";
import { buildOpenApi } from "../../src/apps/server/openapi/document.ts";

type Media = { readonly schema: object; readonly "x-events"?: Record<string, object> };
type Response = { readonly content?: Record<string, Media> };
type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly security?: readonly object[];
  readonly requestBody?: object;
  readonly responses: Record<string, Response>;
};

export const openApi = buildOpenApi("0.0.0-test") as {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, object> };
};

// Formats are annotations, as the standard has them.
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(openApi, "openapi");

/** The answers that were checked, as `operationId status`. */
export const checkedAnswers = new Set<string>();

/** Checks a real answer of the server against the document; not of addresses and methods that it does not have. */
export function checkAnswer(method: string, path: string, { status, headers }: Answer, body: unknown): void {
  const template = Object.keys(openApi.paths).find((one) => matches(one, path.split("?")[0] ?? ""));
  const operation = openApi.paths[template ?? ""]?.[method.toLowerCase()];
  if (template === undefined || operation === undefined) return;
  const what = `${operation.operationId} ${status}`;
  const response = operation.responses[status];
  if (response === undefined) throw new Error(`The document has no ${what}: ${JSON.stringify(body)}`);
  checkedAnswers.add(what);
  const type = headers.get("content-type")?.split(";")[0];
  expect(Object.keys(response.content ?? {}), what).toEqual(type === undefined ? [] : [type]);
  if (type === undefined || type === "text/event-stream") return;
  const place = [
    "paths",
    template,
    method.toLowerCase(),
    "responses",
    `${status}`,
    "content",
    type,
    "schema",
  ];
  expectValid(place, body, what);
  if (status < 400) expectDescribed(response.content?.[type]?.schema, body, what);
  else {
    const { code } = body as { code: string };
    expect(JSON.stringify(response), `${what} lists ${code}`).toContain(`\`${code}\``);
  }
}

/** Checks an event of the stream of a session's events. */
export function checkEvent(name: string | undefined, data: unknown): void {
  const stream = [
    "paths",
    "/v1/sessions/{id}/events",
    "get",
    "responses",
    "200",
    "content",
    "text/event-stream",
  ];
  expectValid([...stream, "x-events", name ?? "message"], data, `the event ${name ?? "message"}`);
}

/** Answers may have further fields for their readers, but this version describes all that it has. */
function expectDescribed(schema: object | undefined, body: unknown, what: string): void {
  const name =
    String((schema as { $ref?: string } | undefined)?.$ref)
      .split("/")
      .at(-1) ?? "";
  if (name === "OpenApiDocument") return;
  const { properties } = openApi.components.schemas[name] as { properties: object };
  expect(Object.keys(properties), `${what} describes its fields`).toEqual(
    expect.arrayContaining(Object.keys(body as object)),
  );
}

type Answer = { readonly status: number; readonly headers: Headers };

function expectValid(place: readonly string[], value: unknown, what: string): void {
  const validate = compile(place);
  validate(value);
  expect(validate.errors ?? [], `${what}: ${JSON.stringify(value).slice(0, 500)}`).toEqual([]);
}

const compiled = new Map<string, ValidateFunction>();

function compile(place: readonly string[]): ValidateFunction {
  const pointer = place
    .map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")))
    .join("/");
  const known = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#/${pointer}` });
  compiled.set(pointer, known);
  return known;
}

function matches(template: string, path: string): boolean {
  const parts = template.split("/");
  const given = path.split("/");
  return (
    parts.length === given.length && parts.every((part, at) => part.startsWith("{") || part === given[at])
  );
}
