import type { Context } from "hono";
import type { ZodType, z } from "zod";
import { parseJsonOrThrow } from "../../platform/text/json.ts";
import { check } from "../../schema/check.ts";
import { ServerProblem } from "./problem.ts";

/** A message has at most 10 MiB; JSON makes some of its characters longer. */
export const MAX_BODY_BYTES = 12 * 1024 * 1024;

/** The images and files of a message have at most 22 MiB, which are 30 MiB in base64. */
export const MAX_MESSAGE_BODY_BYTES = 42 * 1024 * 1024;

/** Reads and validates a JSON body. Stores nothing of one that is too large. */
export async function readJsonBody<Schema extends ZodType>(
  context: Context,
  schema: Schema,
  maxBytes: number = MAX_BODY_BYTES,
): Promise<z.output<Schema>> {
  const text = await readBodyText(context, maxBytes);
  const checked = check(schema, parseJson(text), "body");
  if (checked.ok) return checked.value;
  const { problems } = checked;
  throw new ServerProblem("body-invalid", `The body is not valid: ${problems.join("; ")}.`, { problems });
}

function parseJson(text: string): unknown {
  if (text.trim() === "") return {};
  return parseJsonOrThrow(
    text,
    (reason) => new ServerProblem("body-invalid", `The body is not JSON: ${reason}.`),
  );
}

async function readBodyText(context: Context, maxBytes: number): Promise<string> {
  const announced = Number(context.req.header("content-length") ?? "0");
  if (announced > maxBytes) throw createTooLargeProblem(maxBytes);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of context.req.raw.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw createTooLargeProblem(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function createTooLargeProblem(maxBytes: number): ServerProblem {
  return new ServerProblem(
    "body-too-large",
    `The body has more than ${maxBytes} bytes, which is the maximum. Put a long text into a file of the ` +
      "workspace and refer to it. In a page of the AI SDK, send only the last message with prepareSendMessagesRequest.",
    { maxBytes },
  );
}
