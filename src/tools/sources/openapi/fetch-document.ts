import { setTimeout as wait } from "node:timers/promises";
import { decompress } from "../../../platform/decompress.ts";
import { loadUndici } from "../../../platform/lazy-packages.ts";
import { isPrivateHost, lookupPublic } from "../../../platform/network/public-address.ts";
import { ToolSourceError } from "../tool-source.ts";
import { readBounded } from "./read-body.ts";

export type FetchedDocument = { readonly text: string; readonly address: string };

const MAX_REDIRECTS = 5;
/** The delays before a server that failed or was too busy is retried. */
const RETRY_DELAYS_MS = [250, 1000];
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Fetches a document from a URL, up to a maximum size.
 *
 * @param trusted - The origin that the author specified. Others must have public addresses.
 */
export async function fetchDocument(
  address: string,
  maxBytes: number,
  trusted: string,
): Promise<FetchedDocument> {
  for (const pause of [...RETRY_DELAYS_MS, undefined]) {
    try {
      return await fetchOnce(address, maxBytes, trusted);
    } catch (error) {
      if (error instanceof ToolSourceError) throw error;
      if (pause === undefined) {
        throw new ToolSourceError(
          `The OpenAPI document ${address} cannot be read: ${formatFetchError(error)}; attempted ${RETRY_DELAYS_MS.length + 1} times`,
        );
      }
      await wait(pause);
    }
  }
  throw new Error("unreachable");
}

/** The server is temporarily busy or broken. */
class ServerUnavailableError extends Error {}

async function fetchOnce(address: string, maxBytes: number, trusted: string): Promise<FetchedDocument> {
  let url = new URL(address);
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const isTrusted = url.origin === trusted;
    if (!isTrusted && isPrivateHost(url.hostname)) {
      throw new ToolSourceError(
        `The OpenAPI document ${address} leads to ${url.href}, which is not on the public network: it was not read`,
      );
    }
    const connect = isTrusted
      ? { timeout: CONNECT_TIMEOUT_MS }
      : { timeout: CONNECT_TIMEOUT_MS, lookup: lookupPublic };
    const { Agent, request } = loadUndici();
    const dispatcher = new Agent({ connect });
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher,
        headers: { accept: "application/json, application/yaml, text/yaml, */*;q=0.5" },
      });
      if (statusCode >= 300 && statusCode < 400 && typeof headers["location"] === "string") {
        const next = new URL(headers["location"], url);
        if (!/^https?:$/.test(next.protocol) || (url.protocol === "https:" && next.protocol === "http:")) {
          throw new ToolSourceError(
            `The OpenAPI document ${address} redirects to ${next.href}, which is not followed`,
          );
        }
        url = next;
        continue;
      }
      if (statusCode === 429 || statusCode >= 500)
        throw new ServerUnavailableError(`the server answered ${statusCode}`);
      if (statusCode !== 200) {
        throw new ToolSourceError(
          `The OpenAPI document ${address} cannot be read: the server answered ${statusCode}`,
        );
      }
      const stream = decompress(body, headers["content-encoding"]);
      if (stream === undefined) throw new ToolSourceError(`${address} has an unknown content-encoding`);
      const { bytes, isCut } = await readBounded(stream, maxBytes);
      if (isCut) throw createTooLongError(address, maxBytes);
      return { text: new TextDecoder().decode(bytes), address: url.href };
    } finally {
      void dispatcher.destroy();
    }
  }
  throw new ToolSourceError(
    `The OpenAPI document ${address} redirects too often: ${MAX_REDIRECTS} redirects were followed`,
  );
}

export function createTooLongError(location: string, maxBytes: number): ToolSourceError {
  return new ToolSourceError(
    `The OpenAPI document ${location} has more than ${maxBytes} bytes: it was not read; increase limits.maxDocumentBytes to allow it`,
  );
}

function formatFetchError(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return typeof code === "string" && code !== "" ? `${String(message) || code} (${code})` : String(message);
}
