import type { Context } from "hono";
import { z } from "zod";
import { readJsonBody } from "./body.ts";
import { ServerProblem } from "./problem.ts";

// A codec server for the Temporal UI and CLI: payloads as JSON, their bytes in base64.

/** A Temporal payload. */
export type Payload = {
  readonly metadata?: Readonly<Record<string, Uint8Array>> | null;
  readonly data?: Uint8Array | null;
};

/** The interface of a `PayloadCodec` of Temporal's SDK. */
export type Codec = {
  encode(payloads: Payload[]): Promise<Payload[]>;
  decode(payloads: Payload[]): Promise<Payload[]>;
};

/** One page of a history in the UI: 4 MiB of payloads, which base64 makes a third longer. */
const MAX_CODEC_BYTES = 16 * 1024 * 1024;

const Base64 = z.string().transform((text, context) => {
  const bytes = Buffer.from(text, "base64");
  // Buffer stops silently at the first character that is not base64.
  if (bytes.toString("base64").replace(/=+$/, "") !== text.replace(/=+$/, "")) {
    context.addIssue({ code: "custom", message: "not base64" });
    return z.NEVER;
  }
  return new Uint8Array(bytes);
});

const WirePayloads = z.looseObject({
  payloads: z.array(
    z.looseObject({
      metadata: z.record(z.string(), Base64).nullish(),
      data: Base64.nullish(),
    }),
  ),
});

export async function handleCodec(
  context: Context,
  codec: Codec | undefined,
  operation: "encode" | "decode",
  namespace: string,
): Promise<Response> {
  if (codec === undefined) {
    throw new ServerProblem(
      "route-unknown",
      "This server has no codec: it was started without encryption keys, so that its payloads are not encrypted.",
    );
  }
  const requestedNamespace = context.req.header("x-namespace");
  if (requestedNamespace !== undefined && requestedNamespace !== namespace) {
    throw new ServerProblem(
      "codec-failed",
      `The payloads belong to namespace "${requestedNamespace}"; this server has the keys of namespace "${namespace}".`,
    );
  }
  const { payloads } = await readJsonBody(context, WirePayloads, MAX_CODEC_BYTES);
  const done = await codec[operation](payloads.map(fromWire)).catch((error: unknown) => {
    throw new ServerProblem(
      "codec-failed",
      `The payloads could not be ${operation}d: ${(error as Error).message}`,
    );
  });
  return context.json({ payloads: done.map(toWire) });
}

function fromWire({ metadata, data }: z.output<typeof WirePayloads>["payloads"][number]): Payload {
  return {
    ...(metadata === undefined || metadata === null ? {} : { metadata }),
    ...(data === undefined || data === null ? {} : { data }),
  };
}

function toWire({ metadata, data }: Payload): object {
  const entries = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, encodeBase64(bytes)]);
  return {
    ...(metadata === undefined || metadata === null ? {} : { metadata: Object.fromEntries(entries) }),
    ...(data === undefined || data === null ? {} : { data: encodeBase64(data) }),
  };
}

function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
