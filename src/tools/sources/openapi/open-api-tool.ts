import { isObject, parseJson } from "../../../platform/text/json.ts";
import type { PinnedTool } from "../../../schema/tool-source.ts";
import type { ExecutableTool, ParsedArguments } from "../../tool.ts";
import { fillPath } from "./fill-path.ts";
import { OpenApiCall } from "./open-api-call.ts";
import { prepareRequest } from "./prepare-request.ts";
import { RequestSecrets, type SecretLookup } from "./request-secrets.ts";
import { getMaxBytes, toToolOutput } from "./response-output.ts";
import type { Sender } from "./sender.ts";
import { isAbsent } from "./serialise.ts";

export type OpenApiToolContext = { readonly secrets: SecretLookup; readonly sender: Pick<Sender, "send"> };

/** Creates the tool that calls one operation. An answer with an error status is an ordinary result too (OAPI-08). */
export function createOpenApiTool(
  pinned: PinnedTool,
  { secrets, sender }: OpenApiToolContext,
): ExecutableTool {
  const call = OpenApiCall.parse(pinned.data);
  return {
    kind: "executable",
    name: pinned.name,
    label: call.label,
    description: pinned.description,
    parameters: pinned.parameters,
    replay: pinned.replay,
    quick: false,
    timeoutMs: pinned.timeoutMs,
    needsApproval: pinned.confirm ?? false,
    touches: () => ({ hosts: [call.base] }),
    summarise: (value) => formatSummary(call, value),
    parse: (value) => parseCallArguments(call, value),
    execute: async (value, { signal, idempotencyKey }) => {
      const used = new RequestSecrets(secrets);
      const prepared = prepareRequest(call, value, used, idempotencyKey);
      if (!prepared.ok) return { content: [{ type: "text", text: prepared.message }] };
      const answer = await sender.send(prepared.request, {
        signal,
        timeoutMs: call.timeoutMs,
        maxBytes: (contentType) => getMaxBytes(contentType, call.maxResponseBytes),
        publicOnly: call.publicOnly === true,
      });
      return toToolOutput(prepared.request, answer, used);
    },
  };
}

function formatSummary(call: OpenApiCall, value: unknown): string {
  const filled = fillPath(call, isObject(value) ? value : {});
  return `${call.method.toUpperCase()} ${filled.ok ? filled.path : call.path}`;
}

/**
 * Checks what the operation declares; the server checks the rest. Arguments that are not an object stay as they are, so
 * that the result reports it (OAPI-08).
 */
function parseCallArguments({ parameters, body }: OpenApiCall, value: unknown): ParsedArguments {
  if (isAbsent(value)) return { ok: true, value: {} };
  const fields = typeof value === "string" ? parseJson(value) : value;
  if (!isObject(fields)) return { ok: true, value };
  const keys = [...parameters.map(({ key }) => key), ...(body === undefined ? [] : [body.key])];
  const known = keys.filter((key) => Object.hasOwn(fields, key) && !isAbsent(fields[key]));
  if (body?.structured === true && typeof fields[body.key] === "string") {
    return { ok: false, message: `${body.key}: found text, expected an object or a list` };
  }
  return { ok: true, value: Object.fromEntries(known.map((key) => [key, fields[key]])) };
}
