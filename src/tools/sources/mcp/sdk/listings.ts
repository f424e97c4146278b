import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { RequestOptions as SdkOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { z } from "zod";
import type { RemotePrompt, RemoteResource, RemoteTemplate, RemoteTool } from "../connection.ts";
import { McpError } from "../error.ts";
import { flagOf, type Json, listOf, objectOf, present, textOf } from "../json.ts";

/** More than anyone reads; a server that goes on for ever is not followed. */
const MAX_PAGES = 50;
const MAX_ITEMS = 2000;

/** What is not understood of an item leaves that item out, not the list. */
const Anything = z.looseObject({});

/** The items of all pages. Only what the library says it can be asked for: the protocol's own names. */
export async function listed(
  client: Client,
  method: "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list",
  field: string,
  options: SdkOptions,
): Promise<readonly Json[]> {
  const items: Json[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { params: { cursor } };
    const answer: Json = await client.request({ method, ...params }, Anything, options);
    if (!Array.isArray(answer[field])) {
      throw new McpError("protocol", `answered ${method} without a list of ${field}`);
    }
    items.push(
      ...listOf(answer[field])
        .map(objectOf)
        .filter((item) => item !== undefined),
    );
    cursor = textOf(answer["nextCursor"]);
    if (cursor === undefined || cursor === "" || seen.has(cursor) || items.length >= MAX_ITEMS) break;
    seen.add(cursor);
  }
  return items.slice(0, MAX_ITEMS);
}

/** One that has no name or no schema is none; nor is one that no program can read to its depth. */
export function toolOf(item: Json): RemoteTool | undefined {
  const name = textOf(item["name"]);
  const inputSchema = objectOf(item["inputSchema"]);
  if (name === undefined || name === "" || inputSchema === undefined) return undefined;
  if (isDeep(item)) return undefined;
  const annotations = objectOf(item["annotations"]);
  const outputSchema = objectOf(item["outputSchema"]);
  return {
    name,
    ...present({
      title: textOf(item["title"]) ?? textOf(annotations?.["title"]),
      description: textOf(item["description"]),
      outputSchema,
    }),
    inputSchema,
    hints: present({
      readOnly: flagOf(annotations?.["readOnlyHint"]),
      idempotent: flagOf(annotations?.["idempotentHint"]),
      destructive: flagOf(annotations?.["destructiveHint"]),
    }),
    needsTask: textOf(objectOf(item["execution"])?.["taskSupport"]) === "required",
  };
}

/** Tables within tables: whoever goes down into them does not come up again. */
const MAX_DEPTH = 200;

function isDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return false;
}

export function resourceOf(item: Json): RemoteResource | undefined {
  const uri = textOf(item["uri"]);
  return uri === undefined ? undefined : { uri, ...described(item, uri) };
}

export function templateOf(item: Json): RemoteTemplate | undefined {
  const uriTemplate = textOf(item["uriTemplate"]);
  return uriTemplate === undefined ? undefined : { uriTemplate, ...described(item, uriTemplate) };
}

export function promptOf(item: Json): RemotePrompt | undefined {
  const name = textOf(item["name"]);
  if (name === undefined) return undefined;
  return {
    name,
    ...present({ title: textOf(item["title"]), description: textOf(item["description"]) }),
    arguments: listOf(item["arguments"]).flatMap((one) => {
      const argument = objectOf(one);
      const argumentName = textOf(argument?.["name"]);
      if (argumentName === undefined) return [];
      const description = present({ description: textOf(argument?.["description"]) });
      return [{ name: argumentName, ...description, required: flagOf(argument?.["required"]) ?? false }];
    }),
  };
}

function described(item: Json, address: string) {
  return {
    name: textOf(item["name"]) ?? address,
    ...present({
      title: textOf(item["title"]),
      description: textOf(item["description"]),
      mimeType: textOf(item["mimeType"]),
    }),
  };
}
