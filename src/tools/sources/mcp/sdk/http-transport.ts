import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { raceTimeout } from "../../../../platform/async/race.ts";
import { omitUndefined } from "../../../../platform/text/omit-undefined.ts";
import type { ServerFetch } from "../http/server-fetch.ts";
import type { SignInProvider } from "./sign-in-provider.ts";

/** The longest wait for a server's answer to the end of a session. */
const SESSION_END_TIMEOUT_MS = 1000;

/** Signing in, and once more for a wider scope. */
const MAX_SIGN_INS = 2;

/** Streamable HTTP. The user signs in between two attempts to send the same message. */
export class HttpTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly #inner: StreamableHTTPClientTransport;
  readonly #fetch: ServerFetch;
  readonly #signIn: SignInProvider | undefined;

  constructor(
    url: URL,
    headers: Readonly<Record<string, string>>,
    fetch: ServerFetch,
    signIn: SignInProvider | undefined,
  ) {
    this.#fetch = fetch;
    this.#signIn = signIn;
    this.#inner = new StreamableHTTPClientTransport(url, {
      fetch: fetch.fetch,
      requestInit: { headers: { ...headers } },
      ...omitUndefined({ authProvider: signIn }),
    });
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message) => this.onmessage?.(message);
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion = (version: string): void => this.#inner.setProtocolVersion(version);

  async start(): Promise<void> {
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        await this.#inner.send(message, options as never);
        return;
      } catch (error) {
        const code = error instanceof UnauthorizedError ? this.#signIn?.takeAuthorizationCode() : undefined;
        if (code === undefined || tries >= MAX_SIGN_INS) throw error;
        await this.#inner.finishAuth(code);
      }
    }
  }

  async close(): Promise<void> {
    const sessionEnd = this.#inner.terminateSession().catch(() => {});
    await raceTimeout(sessionEnd, SESSION_END_TIMEOUT_MS);
    await this.#inner.close();
    await this.#fetch.close();
  }
}
