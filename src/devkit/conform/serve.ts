import { createServer, type Server, validateHeaderName, validateHeaderValue } from "node:http";
import { brotliDecompressSync, inflateSync } from "node:zlib";
import type { Recording } from "./recordings.ts";

/** Headers of the recorded connection, not of the reply. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const createPrefixTest =
  (...magic: number[]) =>
  (bytes: Buffer) =>
    magic.every((byte, at) => bytes[at] === byte);

const ENCODING_TESTS: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  gzip: createPrefixTest(0x1f, 0x8b),
  "x-gzip": createPrefixTest(0x1f, 0x8b),
  zstd: createPrefixTest(0x28, 0xb5, 0x2f, 0xfd),
  deflate: (bytes) => isSuccessful(() => inflateSync(bytes)),
  br: (bytes) => isSuccessful(() => brotliDecompressSync(bytes)),
};

/** Serves the recorded status, headers and bytes for every request. */
export async function serveRecording(recording: Recording, bytes: Buffer): Promise<Server> {
  const headers = buildHeaders(recording, bytes);
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => response.writeHead(recording.status, headers).end(bytes));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return server;
}

function buildHeaders({ ct, headers }: Recording, bytes: Buffer): Record<string, string> {
  const all = { ...headers, ...(ct !== "" && { "content-type": ct }) };
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => {
      if (CONNECTION_HEADERS.has(name) || !isSendable(name, value)) return false;
      return name !== "content-encoding" || isEncoded(value, bytes);
    }),
  );
}

/** Recorders mostly store the original headers, but decoded bytes. */
function isEncoded(encoding: string, bytes: Buffer): boolean {
  const name = encoding.trim().toLowerCase();
  return Object.hasOwn(ENCODING_TESTS, name) ? (ENCODING_TESTS[name]?.(bytes) ?? true) : true;
}

function isSendable(name: string, value: string): boolean {
  return isSuccessful(() => {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  });
}

function isSuccessful(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
