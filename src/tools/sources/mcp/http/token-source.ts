import { raceAbort } from "../../../../platform/async/race.ts";
import { asNumber, asObject, asText, type JsonObject, parseJson } from "../../../../platform/text/json.ts";
import { omitUndefined } from "../../../../platform/text/omit-undefined.ts";
import type { McpAuth } from "../../../../schema/mcp.ts";
import { findErrorReason, McpError } from "../mcp-error.ts";
import { resolveReferences, type SecretSource } from "../secret-references.ts";
import type { Fetch } from "./server-fetch.ts";

/** A token is not used within this time before it expires. */
const EXPIRY_MARGIN_MS = 60_000;

/** The limit for quoting an answer that contains no token. */
const MAX_QUOTED_CHARS = 300;

const TOKEN_TIMEOUT_MS = 30_000;

export type TokenSourceOptions = {
  readonly auth: McpAuth;
  readonly secrets: SecretSource;
  /** The server that the token is for (RFC 8707). */
  readonly resource: string;
  readonly fetch: Fetch;
  /** Finds the token endpoint that an issuer publishes. */
  readonly discoverTokenUrl: (issuer: string) => Promise<string>;
  /** Receives each issued secret, and each form of one that is sent. */
  readonly onToken: (secret: string) => void;
  readonly now: () => number;
};

type Token = { readonly value: string; readonly expiresAtMs: number };

/** The token of one server: configured, or requested and refreshed. */
export class TokenSource {
  readonly #options: TokenSourceOptions;
  #token: Token | undefined;
  #refreshToken: string | undefined;
  #pendingToken: Promise<Token> | undefined;

  constructor(options: TokenSourceOptions) {
    this.#options = options;
  }

  /** Returns the value of the header `Authorization`. */
  async getAuthorization(signal?: AbortSignal): Promise<string> {
    if (this.#token === undefined || this.#token.expiresAtMs <= this.#options.now())
      await this.#refresh(signal);
    return `Bearer ${this.#token?.value ?? ""}`;
  }

  /** Returns a new value after a server has rejected one. Rejects if there is no other. */
  async renewAuthorization(rejected: string, signal?: AbortSignal): Promise<string> {
    // Another request was rejected too and has already refreshed the token.
    if (this.#token !== undefined && `Bearer ${this.#token.value}` !== rejected)
      return await this.getAuthorization(signal);
    this.#token = undefined;
    const { auth, secrets } = this.#options;
    if (auth.type === "bearer") await this.#invalidate(auth.token);
    else if (auth.type === "oauth-token" && auth.refreshToken === undefined)
      await this.#invalidate(auth.accessToken);
    else if (auth.type === "oauth-token")
      this.#refreshToken ??= resolveReferences(auth.refreshToken ?? "", secrets);
    const renewed = await this.getAuthorization(signal);
    if (renewed === rejected) throw new McpError("auth", `refused ${this.#describeToken()}`);
    return renewed;
  }

  async #invalidate(reference: string): Promise<void> {
    const { invalidate } = this.#options.secrets;
    if (invalidate === undefined) throw new McpError("auth", `refused ${this.#describeToken()}`);
    await invalidate(reference.slice(2, -1));
  }

  #describeToken(): string {
    const { auth } = this.#options;
    if (auth.type === "bearer") return `the token in ${auth.token}: put a valid token there`;
    if (auth.type === "oauth-token") return `the token in ${auth.accessToken}: put a valid token there`;
    return `the token that ${auth.tokenUrl ?? auth.issuer} issued for ${auth.clientId}`;
  }

  async #refresh(signal: AbortSignal | undefined): Promise<void> {
    this.#pendingToken ??= this.#requestToken().finally(() => {
      this.#pendingToken = undefined;
    });
    const pending = this.#pendingToken;
    const token = await (signal === undefined ? pending : raceAbort(pending, signal));
    this.#token = token;
  }

  async #requestToken(): Promise<Token> {
    const { auth, secrets } = this.#options;
    if (auth.type === "bearer") return createStaticToken(resolveReferences(auth.token, secrets));
    if (auth.type === "oauth") {
      const form = {
        grant_type: "client_credentials",
        ...omitUndefined({ scope: auth.scope }),
      };
      return await this.#exchangeToken(auth, form);
    }
    if (this.#refreshToken === undefined)
      return createStaticToken(resolveReferences(auth.accessToken, secrets));
    return await this.#exchangeToken(auth, {
      grant_type: "refresh_token",
      refresh_token: this.#refreshToken,
    });
  }

  async #exchangeToken(
    auth: Exclude<McpAuth, { type: "bearer" }>,
    form: Record<string, string>,
  ): Promise<Token> {
    const { secrets, resource, fetch, discoverTokenUrl, onToken, now } = this.#options;
    const url = auth.tokenUrl ?? (await discoverTokenUrl(auth.issuer ?? ""));
    const headers = new Headers({
      "content-type": "application/x-www-form-urlencoded",
      accept: "application/json",
    });
    const body = new URLSearchParams({ ...form, resource });
    addClientCredentials(auth, secrets, headers, body);
    onToken(headers.get("authorization")?.slice("Basic ".length) ?? "");
    const createError = (reason: string, cause?: unknown) =>
      new McpError("auth", `needs a token, and ${new URL(url).origin} gave none: ${reason}`, { cause });
    let answer: { readonly status: number; readonly text: string };
    try {
      const signal = AbortSignal.timeout(TOKEN_TIMEOUT_MS);
      const response = await fetch(url, { method: "POST", headers, body: body.toString(), signal });
      answer = { status: response.status, text: await response.text() };
    } catch (error) {
      throw createError(findErrorReason(error), error);
    }
    const fields = asObject(parseJson(answer.text));
    const value = asText(fields?.["access_token"]);
    if (answer.status !== 200 || value === undefined || value === "") {
      throw createError(formatTokenError(answer.status, fields, answer.text));
    }
    this.#refreshToken = asText(fields?.["refresh_token"]) ?? this.#refreshToken;
    for (const secret of [value, this.#refreshToken ?? ""]) onToken(secret);
    const seconds = asNumber(fields?.["expires_in"]);
    return seconds === undefined
      ? createStaticToken(value)
      : { value, expiresAtMs: now() + Math.max(seconds * 1000 - EXPIRY_MARGIN_MS, (seconds * 1000) / 2) };
  }
}

/** Adds the client's credentials, as RFC 6749 specifies in section 2.3.1. */
function addClientCredentials(
  auth: Exclude<McpAuth, { type: "bearer" }>,
  secrets: SecretSource,
  headers: Headers,
  body: URLSearchParams,
): void {
  if (auth.clientId === undefined) return;
  const secret = auth.clientSecret === undefined ? undefined : resolveReferences(auth.clientSecret, secrets);
  if (secret !== undefined && auth.clientAuth === "basic") {
    const pair = `${encodeForm(auth.clientId)}:${encodeForm(secret)}`;
    headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
    return;
  }
  body.set("client_id", auth.clientId);
  if (secret !== undefined) body.set("client_secret", secret);
}

function encodeForm(text: string): string {
  return new URLSearchParams({ x: text }).toString().slice(2);
}

function formatTokenError(status: number, fields: JsonObject | undefined, text: string): string {
  const error = asText(fields?.["error"]);
  const description = asText(fields?.["error_description"]);
  const detail =
    error === undefined ? text.slice(0, MAX_QUOTED_CHARS) : [error, description].filter(Boolean).join(": ");
  return `it answered ${status}, ${detail.trim() === "" ? "with an empty body" : detail.slice(0, MAX_QUOTED_CHARS)}`;
}

function createStaticToken(value: string): Token {
  return { value, expiresAtMs: Number.POSITIVE_INFINITY };
}
