import type { AuthClient, JWTInput } from "google-auth-library";
import { asObject, asText, parseJson } from "../json.ts";
import { ProviderError, type ProviderFault } from "../provider-error.ts";
import { quoteVendor, type Vendor } from "../provider-error-from-response.ts";
import { createMask } from "../secret-masks.ts";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";

/** Of getting a token, with the search for credentials and all attempts. Well above what it takes: a second or two. */
const TOKEN_TIMEOUT_MS = 20_000;

/** Kinds of credentials in a file that send a secret to Google alone. Others name addresses of their own. */
const ACCOUNT_TYPES = new Set(["service_account", "authorized_user"]);

/** Where a token comes from: what the key holds (an account's JSON, or the file with it), or what the worker finds around it. */
export type VertexTokenSource = { readonly account?: string | undefined };

export type VertexCredentialOptions = {
  /** Milliseconds. */
  readonly timeoutMs?: number;
  /** Instead of the network, for tests. */
  readonly fetch?: typeof fetch;
};

/** Whether a key is no key but a service account: its JSON, or the path of the file with it. */
export function isServiceAccount(key: string): boolean {
  return key.startsWith("{") || /^(?:\/|[A-Za-z]:\\).*\.json$/.test(key);
}

/** Tokens for Vertex, by Google's own library, which keeps each until shortly before its end. */
export class VertexCredentials {
  readonly #options: VertexCredentialOptions;
  readonly #clients = new Map<string, Promise<AuthClient>>();

  constructor(options: VertexCredentialOptions = {}) {
    this.#options = options;
  }

  /** Headers for one request: the token, and the project that pays where the credentials name one. */
  async getHeaders(
    name: string,
    source: VertexTokenSource,
    signal: AbortSignal,
  ): Promise<Record<string, string>> {
    const vendor: Vendor = { name, mask: createMask(listSecrets(source)), retryServerErrors: false };
    const { timeoutMs = TOKEN_TIMEOUT_MS } = this.#options;
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      const headers = await raceAbort(AbortSignal.any([signal, limit]), this.#requestHeaders(source));
      return Object.fromEntries(headers.entries());
    } catch (error) {
      this.invalidate(source);
      if (error instanceof ProviderError) throw error;
      if (signal.aborted) {
        throw new ProviderError("cancelled", `the question to ${name} was cancelled`, { cause: error });
      }
      if (limit.aborted) {
        throw new ProviderError("network", `${name}: no token from Google within ${timeoutMs} ms`, {
          cause: error,
        });
      }
      throw createCredentialError(vendor, error);
    }
  }

  /** After a token was refused: the next comes from the beginning. */
  invalidate({ account = "" }: VertexTokenSource): void {
    this.#clients.delete(account);
  }

  async #requestHeaders(source: VertexTokenSource): Promise<Headers> {
    const { account = "" } = source;
    const known = this.#clients.get(account) ?? this.#createClient(source);
    this.#clients.set(account, known);
    return await (await known).getRequestHeaders();
  }

  async #createClient({ account }: VertexTokenSource): Promise<AuthClient> {
    // Loaded by those who need it: most workers never ask Vertex.
    const { GoogleAuth } = await import("google-auth-library");
    const { fetch: fetchImplementation, timeoutMs = TOKEN_TIMEOUT_MS } = this.#options;
    const auth = new GoogleAuth({
      scopes: [SCOPE],
      // The address names it. Without this the library would search for one, with a command if need be.
      projectId: "-",
      ...(account !== undefined && (await readAccount(account))),
      clientOptions: {
        transporterOptions: {
          timeout: timeoutMs,
          ...(fetchImplementation !== undefined && { fetchImplementation }),
        },
      },
    });
    return await auth.getClient();
  }
}

async function readAccount(account: string): Promise<{ readonly credentials: JWTInput }> {
  const { readFile } = await import("node:fs/promises");
  const text = account.startsWith("{") ? account : await readFile(account, "utf8");
  const credentials = asObject(parseJson(text));
  const kind = asText(credentials?.["type"]) ?? "";
  if (credentials === undefined || !ACCOUNT_TYPES.has(kind)) {
    const what = credentials === undefined ? "not JSON" : `of type "${kind}"`;
    const wanted = [...ACCOUNT_TYPES].join(" or ");
    throw new ProviderError("auth", `the credentials for Vertex are ${what}; they must be of type ${wanted}`);
  }
  return { credentials: credentials as JWTInput };
}

function listSecrets({ account }: VertexTokenSource): readonly (string | undefined)[] {
  const privateKey = asObject(parseJson(account ?? ""));
  return ["private_key", "client_secret", "refresh_token"].map((name) => asText(privateKey?.[name]));
}

/** The outcome of `work`, unless the signal comes first; what then becomes of it is nobody's concern. */
async function raceAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return await new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Codes of a connection that failed, which may be tried again. Everything else is a matter of the credentials. */
const UNREACHABLE_CODES = /^(?:ECONN|EHOST|ENET|EPIPE|EAI_AGAIN|ENOTFOUND|ETIMEDOUT|UND_ERR_)/;

function createCredentialError(vendor: Vendor, error: unknown): ProviderError {
  const { status, code, message } = describeError(error);
  const answered = status !== undefined && status >= 400;
  const passes = answered ? status === 429 || status >= 500 : UNREACHABLE_CODES.test(code);
  const fault: ProviderFault = passes ? "network" : "auth";
  const what = `no token from Google${answered ? ` (it answered ${status})` : ""}: ${message}`;
  return new ProviderError(fault, `${vendor.name}: ${quoteVendor(vendor, what)}`, { status });
}

/** The library wraps what happened once or twice. */
function describeError(error: unknown): {
  readonly status: number | undefined;
  readonly code: string;
  readonly message: string;
} {
  let status: number | undefined;
  let code = "";
  let inner: unknown = error;
  for (let depth = 0; depth < 4 && typeof inner === "object" && inner !== null; depth += 1) {
    const facts = inner as Record<string, unknown>;
    const given = facts["status"] ?? asObject(facts["response"])?.["status"];
    if (status === undefined && typeof given === "number") status = given;
    if (!UNREACHABLE_CODES.test(code) && typeof facts["code"] === "string") code = facts["code"];
    inner = facts["cause"];
  }
  return { status, code, message: error instanceof Error ? error.message : String(error) };
}
