import type { PinnedTool } from "../../../schema/outside.ts";
import type { ExecutableTool, ParsedArguments } from "../../tool.ts";
import { OpenApiCall } from "./call.ts";
import { isObject } from "./json.ts";
import { prepare } from "./request.ts";
import { filledPath } from "./request-path.ts";
import { maxBytesOf, resultOf } from "./result.ts";
import { type Secrets, UsedSecrets } from "./secrets.ts";
import type { Sender } from "./send.ts";
import { isAbsent } from "./serialise.ts";

export type CallContext = { readonly secrets: Secrets; readonly sender: Pick<Sender, "send"> };

/** The tool that carries out calls of one operation. An answer that is none of success is an answer too (OAPI-08). */
export function openApiTool(pinned: PinnedTool, { secrets, sender }: CallContext): ExecutableTool {
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
    confirm: pinned.confirm ?? false,
    touches: () => ({ hosts: [call.base] }),
    summarise: (value) => summary(call, value),
    parse: (value) => parsed(call, value),
    execute: async (value, { signal, idempotencyKey }) => {
      const used = new UsedSecrets(secrets);
      const prepared = prepare(call, value, used, idempotencyKey);
      if (!prepared.ok) return { content: [{ type: "text", text: prepared.said }] };
      const answer = await sender.send(prepared.request, {
        signal,
        timeoutMs: call.timeoutMs,
        maxBytes: (contentType) => maxBytesOf(contentType, call.maxResponseBytes),
        publicOnly: call.publicOnly === true,
      });
      return resultOf(prepared.request, answer, used);
    },
  };
}

function summary(call: OpenApiCall, value: unknown): string {
  const filled = filledPath(call, isObject(value) ? value : {});
  return `${call.method.toUpperCase()} ${filled.ok ? filled.path : call.path}`;
}

/**
 * What the operation knows; the server judges the rest. What is no table stays as it is, for the result to say so
 * (OAPI-08).
 */
function parsed({ parameters, body }: OpenApiCall, value: unknown): ParsedArguments {
  if (isAbsent(value)) return { ok: true, value: {} };
  const given = typeof value === "string" ? tableIn(value) : value;
  if (!isObject(given)) return { ok: true, value };
  const keys = [...parameters.map(({ key }) => key), ...(body === undefined ? [] : [body.key])];
  const known = keys.filter((key) => Object.hasOwn(given, key) && !isAbsent(given[key]));
  if (body?.structured === true && typeof given[body.key] === "string") {
    return { ok: false, message: `${body.key}: found a text, expected an object or a list` };
  }
  return { ok: true, value: Object.fromEntries(known.map((key) => [key, given[key]])) };
}

function tableIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
