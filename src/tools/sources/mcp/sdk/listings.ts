import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { RequestOptions as SdkOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { z } from "zod";
import { asBoolean, asList, asObject, asText, type JsonObject } from "../../../../platform/text/json.ts";
import { isValueTooDeep } from "../../../../platform/text/json-depth.ts";
import { omitUndefined } from "../../../../platform/text/omit-undefined.ts";
import type { RemotePrompt, RemoteResource, RemoteResourceTemplate, RemoteTool } from "../mcp-connection.ts";
import { McpError } from "../mcp-error.ts";

/** More pages than anyone reads. The listing of a server that never ends stops here. */
const MAX_PAGES = 50;
const MAX_ITEMS = 2000;

/** An item that cannot be parsed is skipped; the rest of the list is used. */
const AnyPage = z.looseObject({});

/** Lists the items of all pages. Uses only the protocol's own method names, which the library supports. */
export async function listAllPages(
  client: Client,
  method: "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list",
  field: string,
  options: SdkOptions,
): Promise<readonly JsonObject[]> {
  const items: JsonObject[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { params: { cursor } };
    const answer: JsonObject = await client.request({ method, ...params }, AnyPage, options);
    if (!Array.isArray(answer[field])) {
      throw new McpError("protocol", `answered ${method} without a list of ${field}`);
    }
    items.push(
      ...asList(answer[field])
        .map(asObject)
        .filter((item) => item !== undefined),
    );
    cursor = asText(answer["nextCursor"]);
    if (cursor === undefined || cursor === "" || seen.has(cursor) || items.length >= MAX_ITEMS) break;
    seen.add(cursor);
  }
  return items.slice(0, MAX_ITEMS);
}

/** Returns undefined for an item without a name or a schema, or one nested too deep for other programs. */
export function toRemoteTool(item: JsonObject): RemoteTool | undefined {
  const name = asText(item["name"]);
  const inputSchema = asObject(item["inputSchema"]);
  if (name === undefined || name === "" || inputSchema === undefined) return undefined;
  if (isValueTooDeep(item, MAX_DEPTH)) return undefined;
  const annotations = asObject(item["annotations"]);
  const outputSchema = asObject(item["outputSchema"]);
  return {
    name,
    ...omitUndefined({
      title: asText(item["title"]) ?? asText(annotations?.["title"]),
      description: asText(item["description"]),
      outputSchema,
    }),
    inputSchema,
    hints: omitUndefined({
      readOnly: asBoolean(annotations?.["readOnlyHint"]),
      idempotent: asBoolean(annotations?.["idempotentHint"]),
      destructive: asBoolean(annotations?.["destructiveHint"]),
    }),
    needsTask: asText(asObject(item["execution"])?.["taskSupport"]) === "required",
  };
}

/** The deepest nesting of a schema: recursive programs overflow on deeper ones. */
const MAX_DEPTH = 200;

export function toRemoteResource(item: JsonObject): RemoteResource | undefined {
  const uri = asText(item["uri"]);
  return uri === undefined ? undefined : { uri, ...toResourceFields(item, uri) };
}

export function toRemoteResourceTemplate(item: JsonObject): RemoteResourceTemplate | undefined {
  const uriTemplate = asText(item["uriTemplate"]);
  return uriTemplate === undefined ? undefined : { uriTemplate, ...toResourceFields(item, uriTemplate) };
}

export function toRemotePrompt(item: JsonObject): RemotePrompt | undefined {
  const name = asText(item["name"]);
  if (name === undefined) return undefined;
  return {
    name,
    ...omitUndefined({ title: asText(item["title"]), description: asText(item["description"]) }),
    arguments: asList(item["arguments"]).flatMap((one) => {
      const argument = asObject(one);
      const argumentName = asText(argument?.["name"]);
      if (argumentName === undefined) return [];
      const description = omitUndefined({ description: asText(argument?.["description"]) });
      return [{ name: argumentName, ...description, required: asBoolean(argument?.["required"]) ?? false }];
    }),
  };
}

function toResourceFields(item: JsonObject, address: string) {
  return {
    name: asText(item["name"]) ?? address,
    ...omitUndefined({
      title: asText(item["title"]),
      description: asText(item["description"]),
      mimeType: asText(item["mimeType"]),
    }),
  };
}
