import { createHash } from "node:crypto";
import { matchNameGlob } from "../../../platform/text/glob.ts";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import type { PinnedTool } from "../../../schema/outside.ts";
import type { ReplayClass } from "../../../schema/tool.ts";
import type { Method, OpenApiCall } from "./call.ts";
import { listOf, shortened, textOf } from "./json.ts";
import { Inliner, type ModelSchema, withinBytes } from "./model-schema.ts";
import type { Operation } from "./operations.ts";
import { declaredParameters, parameterSchema } from "./parameters.ts";
import { plain } from "./plain.ts";
import { type References, UnresolvedError } from "./references.ts";
import { type BodyFound, declaredBody } from "./request-body.ts";
import { serverOf } from "./servers.ts";

export type Made =
  | { readonly ok: true; readonly tool: PinnedTool; readonly notes: readonly string[] }
  | { readonly ok: false; readonly why: string; readonly isServer?: true };

/** The longest that all vendors take. */
const MAX_DESCRIPTION = 1024;
const MAX_LABEL = 120;
/** Of one operation. */
const MAX_PARAMETERS = 500;

const REPLAY: Readonly<Record<Method, ReplayClass>> = {
  get: "pure",
  head: "pure",
  options: "pure",
  put: "idempotent",
  delete: "idempotent",
  post: "unsafe",
  patch: "unsafe",
};

/** A tool of an operation (OAPI-02, OAPI-06), or why it cannot be one. */
export function pinnedTool(
  operation: Operation,
  references: References,
  settings: OpenApiSettings,
  address: string,
): Made {
  try {
    return made(operation, references, settings, address);
  } catch (error) {
    if (error instanceof UnresolvedError) return { ok: false, why: error.message };
    throw error;
  }
}

function made(
  operation: Operation,
  references: References,
  settings: OpenApiSettings,
  address: string,
): Made {
  const { id, method, path, item, body: own } = operation;
  const server = serverOf(settings, [own["servers"], item["servers"], references.root["servers"]], address);
  if (!server.ok) return { ok: false, why: server.why, isServer: true };
  const template = templateOf(path, server.base);
  if (template === undefined) return { ok: false, why: "its path is none that can be sent" };
  const { auth, headers, idempotencyHeader, maxResponseBytes, timeoutMs } = settings;
  const lists = [item["parameters"], own["parameters"]];
  if (path.split("{").length + lists.flatMap(listOf).length > MAX_PARAMETERS) {
    return { ok: false, why: `it has more than ${MAX_PARAMETERS} parameters` };
  }
  const { parameters, notes } = declaredParameters(path, lists, references, (place, name) =>
    isOurs(settings, place, name),
  );
  const keys = new Set(parameters.map(({ call }) => call.key));
  const hasBody = method !== "get" && method !== "head" && method !== "options";
  const bodyIn = (inliner: Inliner): BodyFound =>
    hasBody ? declaredBody(own["requestBody"], references, inliner, keys) : { type: "none" };

  const outcome = withinBytes(references, settings.limits.maxSchemaBytes, (inliner) => {
    const body = bodyIn(inliner);
    const properties = new Map<string, ModelSchema>();
    const required: string[] = [];
    for (const parameter of parameters) {
      properties.set(parameter.call.key, parameterSchema(parameter, inliner));
      if (parameter.required) required.push(parameter.call.key);
    }
    if (body.type === "body") {
      const { call, description } = body.body;
      const schema = call.kind === "text" ? { type: "string" } : inliner.schema(body.body.schema);
      properties.set(
        call.key,
        description === undefined ? schema : { ...inliner.schema({ description }), ...schema },
      );
      if (body.body.required) required.push(call.key);
    }
    return {
      type: "object",
      properties: Object.fromEntries(properties),
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
    };
  });
  if (outcome === undefined) {
    const { maxSchemaBytes } = settings.limits;
    return { ok: false, why: `its parameters need more than ${maxSchemaBytes} bytes to be told` };
  }
  const body = bodyIn(new Inliner(references, 1, 1000));
  if (body.type === "unknown" && body.required) {
    return {
      ok: false,
      why: `it needs a body of ${body.types.slice(0, 3).join(" or ")}, which is not written here`,
    };
  }
  const summary = textOf(own["summary"]);
  const data: OpenApiCall = {
    label: shortened(plain(summary ?? id).replace(/\s+/g, " "), MAX_LABEL),
    method,
    base: server.base,
    path: template,
    parameters: parameters.map(({ call }) => call),
    ...(body.type === "body" ? { body: body.body.call } : {}),
    auth,
    headers,
    ...(idempotencyHeader === undefined ? {} : { idempotencyHeader }),
    maxResponseBytes,
    timeoutMs,
    ...(server.publicOnly ? { publicOnly: true } : {}),
  };
  const tool = {
    source: "openapi" as const,
    from: settings.name,
    remote: operation.remote,
    name: settings.prefix === undefined ? id : `${settings.prefix}__${id}`,
    description: shortened(
      plain(textOf(own["description"]) || summary || `${method.toUpperCase()} ${path}`),
      MAX_DESCRIPTION,
    ),
    parameters: outcome.made,
    replay: replayOf(settings, id, method),
    ...(settings.confirm.some((glob) => matchNameGlob(glob, id)) ? { confirm: true } : {}),
    data,
  };
  return {
    ok: true,
    tool: { ...tool, hash: createHash("sha256").update(JSON.stringify(tool)).digest("hex") },
    notes: [
      ...notes,
      ...(outcome.isCut ? ["its parameters are too large to be told whole: what lies deep was cut off"] : []),
      ...(body.type === "unknown"
        ? [`its body of ${body.types[0]} is not written here: it is called without one`]
        : []),
    ],
  };
}

/** What the definition says itself is none of the model's to say. */
function isOurs({ auth, headers, idempotencyHeader }: OpenApiSettings, place: string, name: string): boolean {
  const same = (other: string) => other.toLowerCase() === name.toLowerCase();
  if (
    auth.type === "api-key" &&
    auth.in === place &&
    (place === "query" ? auth.name === name : same(auth.name))
  ) {
    return true;
  }
  if (place !== "header") return false;
  return Object.keys(headers).some(same) || (idempotencyHeader !== undefined && same(idempotencyHeader));
}

function replayOf({ replay }: OpenApiSettings, id: string, method: Method): ReplayClass {
  const exact = Object.hasOwn(replay, id) ? replay[id] : undefined;
  return exact ?? Object.entries(replay).find(([glob]) => matchNameGlob(glob, id))?.[1] ?? REPLAY[method];
}

/** As it goes into an address, with its places; undefined where it would lead elsewhere than it says. */
function templateOf(path: string, base: string): string | undefined {
  const pieces = path.split(/(\{[^{}]+\})/);
  const template = pieces.map((piece, index) => (index % 2 === 1 ? piece : encoded(piece))).join("");
  if (/[?#\\]/.test(path.replace(/\{[^{}]+\}/g, ""))) return undefined;
  const probe = base + template.replace(/\{[^{}]+\}/g, "x");
  return URL.canParse(probe) && new URL(probe).href === probe ? template : undefined;
}

/** What is encoded already stays. */
function encoded(piece: string): string {
  return piece.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]/g, (letter) => encodeURIComponent(letter));
}
