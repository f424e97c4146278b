import { createHash } from "node:crypto";
import { matchNameGlob } from "../../../platform/text/glob.ts";
import { asList, asText } from "../../../platform/text/json.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { truncateText } from "../../../platform/text/truncate-text.ts";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import type { ReplayClass } from "../../../schema/tool.ts";
import type { PinnedTool } from "../../../schema/tool-source.ts";
import { buildParameterSchema, collectParameters } from "./collect-parameters.ts";
import { type BodyDeclaration, readBodyDeclaration } from "./declared-body.ts";
import type { Method, OpenApiCall } from "./open-api-call.ts";
import { type References, UnresolvedReferenceError } from "./references.ts";
import { sanitiseDocumentText } from "./sanitise-document-text.ts";
import { buildWithinBytes, type ModelSchema, SchemaInliner } from "./schema-inliner.ts";
import type { Operation } from "./select-operations.ts";
import { selectServer } from "./select-server.ts";

export type PinnedOperation =
  | { readonly ok: true; readonly tool: PinnedTool; readonly notes: readonly string[] }
  | { readonly ok: false; readonly reason: string; readonly isServerProblem?: true };

/** The longest that all vendors accept. */
const MAX_DESCRIPTION_CHARS = 1024;
const MAX_LABEL_CHARS = 120;
/** The limit for one operation. */
const MAX_PARAMETERS = 500;

const REPLAY_BY_METHOD: Readonly<Record<Method, ReplayClass>> = {
  get: "pure",
  head: "pure",
  options: "pure",
  put: "idempotent",
  delete: "idempotent",
  post: "unsafe",
  patch: "unsafe",
};

/** Creates the tool of an operation (OAPI-02, OAPI-06), or returns the reason why it cannot be one. */
export function pinOperation(
  operation: Operation,
  references: References,
  settings: OpenApiSettings,
  address: string,
): PinnedOperation {
  try {
    return buildPinnedTool(operation, references, settings, address);
  } catch (error) {
    if (error instanceof UnresolvedReferenceError) return { ok: false, reason: error.message };
    throw error;
  }
}

function buildPinnedTool(
  operation: Operation,
  references: References,
  settings: OpenApiSettings,
  address: string,
): PinnedOperation {
  const { id, method, path, item, body: own } = operation;
  const server = selectServer(
    settings,
    [own["servers"], item["servers"], references.root["servers"]],
    address,
  );
  if (!server.ok) return { ok: false, reason: server.reason, isServerProblem: true };
  const template = toPathTemplate(path, server.base);
  if (template === undefined) return { ok: false, reason: "its path cannot be sent" };
  const { auth, headers, idempotencyHeader, maxResponseBytes, timeoutMs } = settings;
  const lists = [item["parameters"], own["parameters"]];
  if (path.split("{").length + lists.flatMap(asList).length > MAX_PARAMETERS) {
    return { ok: false, reason: `it has more than ${MAX_PARAMETERS} parameters` };
  }
  const { parameters, notes } = collectParameters(path, lists, references, (location, name) =>
    isSetByDefinition(settings, location, name),
  );
  const keys = new Set(parameters.map(({ call }) => call.key));
  const hasBody = method !== "get" && method !== "head" && method !== "options";
  const bodyIn = (inliner: SchemaInliner): BodyDeclaration =>
    hasBody ? readBodyDeclaration(own["requestBody"], references, inliner, keys) : { type: "none" };

  const outcome = buildWithinBytes(references, settings.limits.maxSchemaBytes, (inliner) => {
    const body = bodyIn(inliner);
    const properties = new Map<string, ModelSchema>();
    const required: string[] = [];
    for (const parameter of parameters) {
      properties.set(parameter.call.key, buildParameterSchema(parameter, inliner));
      if (parameter.required) required.push(parameter.call.key);
    }
    if (body.type === "body") {
      const { call, description } = body.body;
      const schema = call.kind === "text" ? { type: "string" } : inliner.inline(body.body.schema);
      properties.set(
        call.key,
        description === undefined ? schema : { ...inliner.inline({ description }), ...schema },
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
    return { ok: false, reason: `the schema of its parameters needs more than ${maxSchemaBytes} bytes` };
  }
  const body = bodyIn(new SchemaInliner(references, 1, 1000));
  if (body.type === "unknown" && body.required) {
    return {
      ok: false,
      reason: `it needs a body of ${body.types.slice(0, 3).join(" or ")}, which is not supported`,
    };
  }
  const summary = asText(own["summary"]);
  const data: OpenApiCall = {
    label: truncateText(sanitiseDocumentText(summary ?? id).replace(/\s+/g, " "), MAX_LABEL_CHARS),
    method,
    base: server.base,
    path: template,
    parameters: parameters.map(({ call }) => call),
    ...(body.type === "body" ? { body: body.body.call } : {}),
    auth,
    headers,
    ...omitUndefined({ idempotencyHeader }),
    maxResponseBytes,
    timeoutMs,
    ...(server.publicOnly ? { publicOnly: true } : {}),
  };
  const tool = {
    source: "openapi" as const,
    from: settings.name,
    remote: operation.remote,
    name: settings.prefix === undefined ? id : `${settings.prefix}__${id}`,
    description: truncateText(
      sanitiseDocumentText(asText(own["description"]) || summary || `${method.toUpperCase()} ${path}`),
      MAX_DESCRIPTION_CHARS,
    ),
    parameters: outcome.result,
    replay: selectReplayClass(settings, id, method),
    ...(settings.confirm.some((glob) => matchNameGlob(glob, id)) ? { confirm: true } : {}),
    data,
  };
  return {
    ok: true,
    tool: { ...tool, hash: createHash("sha256").update(JSON.stringify(tool)).digest("hex") },
    notes: [
      ...notes,
      ...(outcome.isCut ? ["the schema of its parameters is too large: its deepest parts were removed"] : []),
      ...(body.type === "unknown"
        ? [`its body of ${body.types[0]} is not supported: it is called without one`]
        : []),
    ],
  };
}

/** The model must not set values that the definition sets. */
function isSetByDefinition(
  { auth, headers, idempotencyHeader }: OpenApiSettings,
  location: string,
  name: string,
): boolean {
  const same = (other: string) => other.toLowerCase() === name.toLowerCase();
  if (
    auth.type === "api-key" &&
    auth.in === location &&
    (location === "query" ? auth.name === name : same(auth.name))
  ) {
    return true;
  }
  if (location !== "header") return false;
  return Object.keys(headers).some(same) || (idempotencyHeader !== undefined && same(idempotencyHeader));
}

function selectReplayClass({ replay }: OpenApiSettings, id: string, method: Method): ReplayClass {
  const exact = Object.hasOwn(replay, id) ? replay[id] : undefined;
  return (
    exact ?? Object.entries(replay).find(([glob]) => matchNameGlob(glob, id))?.[1] ?? REPLAY_BY_METHOD[method]
  );
}

/** Encodes a path for a URL, with its placeholders. Returns undefined if it would lead somewhere else. */
function toPathTemplate(path: string, base: string): string | undefined {
  const pieces = path.split(/(\{[^{}]+\})/);
  const template = pieces.map((piece, index) => (index % 2 === 1 ? piece : encodePiece(piece))).join("");
  if (/[?#\\]/.test(path.replace(/\{[^{}]+\}/g, ""))) return undefined;
  const probe = base + template.replace(/\{[^{}]+\}/g, "x");
  return URL.canParse(probe) && new URL(probe).href === probe ? template : undefined;
}

/** Encodes a piece of a path. Existing escapes stay. */
function encodePiece(piece: string): string {
  return piece.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]/g, (letter) => encodeURIComponent(letter));
}
