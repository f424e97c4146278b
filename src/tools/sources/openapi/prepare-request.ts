import { getField, isObject, type JsonObject } from "../../../platform/text/json.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { ToolError } from "../../tool-execution.ts";
import { fillPath } from "./fill-path.ts";
import type { OpenApiCall } from "./open-api-call.ts";
import { serialiseBody } from "./request-content.ts";
import { MASKED, type RequestSecrets } from "./request-secrets.ts";
import { encode, isAbsent, type Pair, serialiseHeader, serialiseQueryParameter } from "./serialise.ts";

export type ApiRequest = {
  readonly method: string;
  readonly url: string;
  /** The URL without secrets. */
  readonly maskedUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type PreparedRequest =
  | { readonly ok: true; readonly request: ApiRequest }
  /** The ordinary result that the model receives instead (OAPI-08). */
  | { readonly ok: false; readonly message: string };

const ACCEPT = "application/json, text/*;q=0.9, */*;q=0.5";

/** Prepares the request of a call, in the order of OAPI-07. */
export function prepareRequest(
  call: OpenApiCall,
  parameters: unknown,
  secrets: RequestSecrets,
  idempotencyKey: string,
): PreparedRequest {
  const values = parameters ?? {};
  if (!isObject(values)) return rejectRequest("params must be an object");
  const path = fillPath(call, values);
  if (!path.ok) return { ok: false, message: path.message };
  const pathUrl = call.base + path.path;
  const pairs = buildQuery(call, values);
  const headers = new Map<string, string>([
    ["accept", ACCEPT],
    ["user-agent", "holdfast"],
  ]);
  for (const parameter of call.parameters) {
    const value = getField(values, parameter.key);
    if (parameter.in !== "header" || isAbsent(value)) continue;
    const text = parameter.json === true ? JSON.stringify(value) : serialiseHeader(value, parameter);
    if (!isHeaderValue(text))
      return rejectRequest(`header param '${parameter.key}' must be one line of plain letters`);
    headers.set(parameter.name.toLowerCase(), text.trim());
  }
  const key = authorise(call, headers, secrets);
  if (call.idempotencyHeader !== undefined && !SAFE_METHODS.includes(call.method)) {
    headers.set(call.idempotencyHeader.toLowerCase(), idempotencyKey);
  }
  for (const [name, value] of Object.entries(call.headers)) {
    headers.set(name.toLowerCase(), toSecretHeader(name, secrets.resolve(value)));
  }
  const body = buildBody(call, values, headers);
  const url = appendQuery(pathUrl, key === undefined ? pairs : [...pairs, key]);
  // The server's parser decides what a URL means: it must read the path that was written.
  if (!URL.canParse(url) || new URL(url).href !== url) {
    return rejectRequest(`these path params lead to a different path than ${call.path}`);
  }
  const maskedUrl = appendQuery(pathUrl, key === undefined ? pairs : [...pairs, [key[0], MASKED]]);
  return {
    ok: true,
    request: {
      method: call.method.toUpperCase(),
      url,
      maskedUrl: secrets.mask(maskedUrl),
      headers: Object.fromEntries(headers),
      ...omitUndefined({ body }),
    },
  };
}

const SAFE_METHODS: readonly OpenApiCall["method"][] = ["get", "head", "options"];

function rejectRequest(reason: string): PreparedRequest {
  return { ok: false, message: `Error: ${reason}` };
}

function buildQuery({ parameters, auth }: OpenApiCall, values: JsonObject): readonly Pair[] {
  const pairs = parameters.flatMap((parameter): readonly Pair[] => {
    const value = getField(values, parameter.key);
    if (parameter.in !== "query" || isAbsent(value)) return [];
    return serialiseQueryParameter(
      parameter.name,
      parameter.json === true ? JSON.stringify(value) : value,
      parameter,
    );
  });
  // An exploded object may contain any key. The model must not set the one that authenticates.
  const own = auth.type === "api-key" && auth.in === "query" ? encode(auth.name) : undefined;
  return pairs.filter(([name]) => name !== own);
}

/** @returns The authentication part of the query. */
function authorise(
  { auth }: OpenApiCall,
  headers: Map<string, string>,
  secrets: RequestSecrets,
): Pair | undefined {
  switch (auth.type) {
    case "none":
      return undefined;
    case "bearer":
      headers.set(
        "authorization",
        toSecretHeader("authorization", `Bearer ${secrets.resolve(auth.token).trim()}`),
      );
      return undefined;
    case "basic": {
      const password = auth.password === undefined ? "" : secrets.resolve(auth.password);
      const credentials = Buffer.from(`${secrets.resolve(auth.username)}:${password}`).toString("base64");
      secrets.add(credentials);
      headers.set("authorization", `Basic ${credentials}`);
      return undefined;
    }
    case "api-key": {
      const value = secrets.resolve(auth.value);
      if (auth.in === "query") return [encode(auth.name), encode(value)];
      headers.set(auth.name.toLowerCase(), toSecretHeader(auth.name, value));
      return undefined;
    }
  }
}

function buildBody(
  { body }: OpenApiCall,
  values: JsonObject,
  headers: Map<string, string>,
): string | undefined {
  const value = body === undefined ? undefined : getField(values, body.key);
  if (body === undefined || isAbsent(value)) return undefined;
  const { contentType, text } = serialiseBody(body, value);
  if (!headers.has("content-type") || body.kind === "multipart") headers.set("content-type", contentType);
  return text;
}

function appendQuery(url: string, pairs: readonly Pair[]): string {
  const query = pairs.map(([name, value]) => `${name}=${value}`).join("&");
  return query === "" ? url : `${url}?${query}`;
}

function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}

/** A file with a secret often ends with a line break. */
function toSecretHeader(name: string, value: string): string {
  const text = value.trim();
  if (isHeaderValue(text)) return text;
  throw new ToolError(
    "failed",
    `The request was not sent: the value of the header ${name} contains a line break or characters that are not allowed in headers`,
  );
}
