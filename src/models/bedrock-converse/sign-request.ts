import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";
import type { OutgoingRequest } from "../send-vendor-request.ts";
import type { AwsCredentials } from "./aws-credentials.ts";
import { SignatureV4 } from "./signature-v4.ts";

type Data = string | ArrayBuffer | ArrayBufferView;

/** The hash interface that the signer requires, implemented with Node's own. */
class Sha256 {
  readonly #secret: Data | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: Data) {
    this.#secret = secret;
    this.#hash = this.#createHash();
  }

  update(data: Data): void {
    this.#hash.update(toBytes(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#createHash();
  }

  #createHash(): Hash | Hmac {
    return this.#secret === undefined ? createHash("sha256") : createHmac("sha256", toBytes(this.#secret));
  }
}

function toBytes(data: Data): string | Uint8Array {
  if (typeof data === "string") return data;
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

/** Selects headers that no proxy changes; Amazon requires its own headers to be signed. */
function isSigned(header: string): boolean {
  return header === "content-type" || header === "host" || header.startsWith("x-amz-");
}

/** Returns the headers that sign this call at this time (SigV4). */
export async function signRequest(
  call: OutgoingRequest,
  credentials: AwsCredentials,
  region: string,
  now: number,
): Promise<Readonly<Record<string, string>>> {
  const url = new URL(call.url);
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const signer = new SignatureV4({
    service: "bedrock",
    region,
    sha256: Sha256,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
  });
  const sent = Object.entries(call.headers).filter(([name]) => isSigned(name));
  const { headers } = await signer.sign(
    {
      method: "POST",
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { ...Object.fromEntries(sent), host: url.host },
      body: call.body,
    },
    { signingDate: new Date(now) },
  );
  const { host: _, ...signatureHeaders } = headers;
  return signatureHeaders;
}
