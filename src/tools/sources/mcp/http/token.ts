import type { McpAuth } from "../../../../schema/mcp.ts";
import { McpError, reasonOf } from "../error.ts";
import { numberOf, objectOf, textOf } from "../json.ts";
import { resolved, type Secrets } from "../references.ts";
import type { Fetch } from "./fetch.ts";

/** A token is not used any more so long before its end. */
const SPARE_MS = 60_000;

/** Of an answer that gives no token. */
const MAX_SHOWN_CHARS = 300;

const TOKEN_TIMEOUT_MS = 30_000;

export type TokenOptions = {
  readonly auth: McpAuth;
  readonly secrets: Secrets;
  /** The server that the token is for (RFC 8707). */
  readonly resource: string;
  readonly fetch: Fetch;
  /** The token end point that an issuer publishes. */
  readonly discover: (issuer: string) => Promise<string>;
  /** Is told each secret that is given out, and each form of one that is sent. */
  readonly obtained: (secret: string) => void;
  readonly now: () => number;
};

type Token = { readonly value: string; readonly endsAtMs: number };

/** The token of one server: as it was given, or asked for and renewed. */
export class TokenSource {
  readonly #options: TokenOptions;
  #token: Token | undefined;
  #refreshToken: string | undefined;
  #asking: Promise<Token> | undefined;

  constructor(options: TokenOptions) {
    this.#options = options;
  }

  /** What goes into the header `Authorization`. */
  async current(signal?: AbortSignal): Promise<string> {
    if (this.#token === undefined || this.#token.endsAtMs <= this.#options.now()) await this.#ask(signal);
    return `Bearer ${this.#token?.value ?? ""}`;
  }

  /** After a server has refused one; rejects when there is no other. */
  async renewed(refused: string, signal?: AbortSignal): Promise<string> {
    // Somebody else was refused too, and has seen to it already.
    if (this.#token !== undefined && `Bearer ${this.#token.value}` !== refused)
      return await this.current(signal);
    this.#token = undefined;
    const { auth, secrets } = this.#options;
    if (auth.type === "bearer") await this.#forget(auth.token);
    else if (auth.type === "oauth-token" && auth.refreshToken === undefined)
      await this.#forget(auth.accessToken);
    else if (auth.type === "oauth-token") this.#refreshToken ??= resolved(auth.refreshToken ?? "", secrets);
    const renewed = await this.current(signal);
    if (renewed === refused) throw new McpError("auth", `refused ${this.#named()}`);
    return renewed;
  }

  async #forget(reference: string): Promise<void> {
    const { invalidate } = this.#options.secrets;
    if (invalidate === undefined) throw new McpError("auth", `refused ${this.#named()}`);
    await invalidate(reference.slice(2, -1));
  }

  #named(): string {
    const { auth } = this.#options;
    if (auth.type === "bearer") return `the token in ${auth.token}: put a valid one there`;
    if (auth.type === "oauth-token") return `the token in ${auth.accessToken}: put a valid one there`;
    return `the token that ${auth.tokenUrl ?? auth.issuer} gave for ${auth.clientId}`;
  }

  async #ask(signal: AbortSignal | undefined): Promise<void> {
    this.#asking ??= this.#obtain().finally(() => {
      this.#asking = undefined;
    });
    const asking = this.#asking;
    const token = await (signal === undefined ? asking : Promise.race([asking, abortOf(signal)]));
    this.#token = token;
  }

  async #obtain(): Promise<Token> {
    const { auth, secrets } = this.#options;
    if (auth.type === "bearer") return forEver(resolved(auth.token, secrets));
    if (auth.type === "oauth") {
      const form = {
        grant_type: "client_credentials",
        ...(auth.scope === undefined ? {} : { scope: auth.scope }),
      };
      return await this.#exchange(auth, form);
    }
    if (this.#refreshToken === undefined) return forEver(resolved(auth.accessToken, secrets));
    return await this.#exchange(auth, { grant_type: "refresh_token", refresh_token: this.#refreshToken });
  }

  async #exchange(auth: Exclude<McpAuth, { type: "bearer" }>, form: Record<string, string>): Promise<Token> {
    const { secrets, resource, fetch, discover, obtained, now } = this.#options;
    const url = auth.tokenUrl ?? (await discover(auth.issuer ?? ""));
    const headers = new Headers({
      "content-type": "application/x-www-form-urlencoded",
      accept: "application/json",
    });
    const body = new URLSearchParams({ ...form, resource });
    identify(auth, secrets, headers, body);
    obtained(headers.get("authorization")?.slice("Basic ".length) ?? "");
    const failed = (why: string, cause?: unknown) =>
      new McpError("auth", `needs a token, and ${new URL(url).origin} gave none: ${why}`, { cause });
    let answer: { readonly status: number; readonly text: string };
    try {
      const signal = AbortSignal.timeout(TOKEN_TIMEOUT_MS);
      const response = await fetch(url, { method: "POST", headers, body: body.toString(), signal });
      answer = { status: response.status, text: await response.text() };
    } catch (error) {
      throw failed(reasonOf(error), error);
    }
    const said = objectOf(parsed(answer.text));
    const value = textOf(said?.["access_token"]);
    if (answer.status !== 200 || value === undefined || value === "") {
      throw failed(whyNot(answer.status, said, answer.text));
    }
    this.#refreshToken = textOf(said?.["refresh_token"]) ?? this.#refreshToken;
    for (const secret of [value, this.#refreshToken ?? ""]) obtained(secret);
    const seconds = numberOf(said?.["expires_in"]);
    return seconds === undefined
      ? forEver(value)
      : { value, endsAtMs: now() + Math.max(seconds * 1000 - SPARE_MS, (seconds * 1000) / 2) };
  }
}

/** Who asks, as RFC 6749 has it in section 2.3.1. */
function identify(
  auth: Exclude<McpAuth, { type: "bearer" }>,
  secrets: Secrets,
  headers: Headers,
  body: URLSearchParams,
): void {
  if (auth.clientId === undefined) return;
  const secret = auth.clientSecret === undefined ? undefined : resolved(auth.clientSecret, secrets);
  if (secret !== undefined && auth.clientAuth === "basic") {
    const pair = `${formEncoded(auth.clientId)}:${formEncoded(secret)}`;
    headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
    return;
  }
  body.set("client_id", auth.clientId);
  if (secret !== undefined) body.set("client_secret", secret);
}

function formEncoded(text: string): string {
  return new URLSearchParams({ x: text }).toString().slice(2);
}

function whyNot(status: number, said: ReturnType<typeof objectOf>, text: string): string {
  const error = textOf(said?.["error"]);
  const description = textOf(said?.["error_description"]);
  const shown =
    error === undefined ? text.slice(0, MAX_SHOWN_CHARS) : [error, description].filter(Boolean).join(": ");
  return `it answered ${status}, ${shown.trim() === "" ? "without a word" : shown.slice(0, MAX_SHOWN_CHARS)}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function forEver(value: string): Token {
  return { value, endsAtMs: Number.POSITIVE_INFINITY };
}

function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
