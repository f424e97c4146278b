import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

const DECODERS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;

/**
 * Decodes the body of a response: Holdfast requests no encoding, but servers and proxies compress anyway. Destroys the
 * body and returns `undefined` for an unknown encoding.
 */
export function decompress(body: Readable, encoding: string | string[] | undefined): Readable | undefined {
  const name = String(encoding ?? "")
    .trim()
    .toLowerCase();
  if (name === "" || name === "identity") return body;
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name as keyof typeof DECODERS] : undefined;
  if (create === undefined) {
    body.on("error", () => {}).destroy();
    return undefined;
  }
  // The error reaches the reader through the decoder; the callback only prevents an unhandled error.
  return pipeline(body, create(), () => {});
}
