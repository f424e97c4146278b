import type { AuthClient, JWTInput } from "google-auth-library";
import { limitSignal } from "../../platform/async/deadline.ts";
import { raceAbort } from "../../platform/async/race.ts";
import { asObject, parseJson } from "../../platform/text/json.ts";
import { asNonEmptyText } from "../json.ts";
import { ProviderError, type ProviderFault } from "../provider-error.ts";
import { quoteVendor, type Vendor } from "../provider-error-from-response.ts";
import { createMask } from "../secret-masks.ts";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";

/** The limit for getting a token, with the search for credentials and all attempts. It normally takes a second or two. */
const TOKEN_TIMEOUT_MS = 20_000;

/** Kinds of credential files that send a secret to Google only. Others name their own addresses. */
const ACCOUNT_TYPES = new Set(["service_account", "authorized_user"]);

/** The source of a token: the key (an account's JSON, or the path of its file), or the worker's default credentials. */
export type VertexTokenSource = { readonly account?: string | undefined };

export type VertexCredentialOptions = {
  /** Milliseconds. */
  readonly timeoutMs?: number;
  /** Replaces the network in tests. */
  readonly fetch?: typeof fetch;
};

/** Returns whether a key is a service account: its JSON, or the path of its file. */
export function isServiceAccount(key: string): boolean {
  return key.startsWith("{") || /^(?:\/|[A-Za-z]:\\).*\.json$/.test(key);
}

/** Tokens for Vertex from Google's own library, which caches each until shortly before it expires. */
export class VertexCredentials {
  readonly #options: VertexCredentialOptions;
  readonly #clients = new Map<string, Promise<AuthClient>>();

  constructor(options: VertexCredentialOptions = {}) {
    this.#options = options;
  }

  /** Returns the headers for one request: the token, and the project that is billed if the credentials name one. */
  async getHeaders(
    name: string,
    source: VertexTokenSource,
    signal: AbortSignal,
  ): Promise<Record<string, string>> {
    const vendor: Vendor = { name, mask: createMask(listSecrets(source)), retryServerErrors: false };
    const { timeoutMs = TOKEN_TIMEOUT_MS } = this.#options;
    const limited = limitSignal(signal, timeoutMs);
    try {
      const headers = await raceAbort(this.#requestHeaders(source), limited);
      return Object.fromEntries(headers.entries());
    } catch (error) {
      this.invalidate(source);
      if (error instanceof ProviderError) throw error;
      if (signal.aborted) {
        throw new ProviderError("cancelled", `the request to ${name} was cancelled`, { cause: error });
      }
      if (limited.aborted) {
        throw new ProviderError("network", `${name}: no token from Google within ${timeoutMs} ms`, {
          cause: error,
        });
      }
      throw createCredentialError(vendor, error);
    }
  }

  /** Call this after a token was rejected: the next one is requested anew. */
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
    const { GoogleAuth } = await loadGoogleAuth();
    const { fetch: fetchImplementation, timeoutMs = TOKEN_TIMEOUT_MS } = this.#options;
    const auth = new GoogleAuth({
      scopes: [SCOPE],
      // The address contains the project. Without this setting the library would search for one, possibly with a command.
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

/** Loads the optional peer dependency: most workers never use Vertex, and it brings 13 MiB. */
async function loadGoogleAuth(): Promise<typeof import("google-auth-library")> {
  try {
    return await import("google-auth-library");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new ProviderError(
      "auth",
      "a token for Vertex needs the package google-auth-library, which is not installed with Holdfast: run `npm install google-auth-library@10` where Holdfast is installed (with -g for a global install), then start the worker again",
      { cause: error },
    );
  }
}

async function readAccount(account: string): Promise<{ readonly credentials: JWTInput }> {
  const { readFile } = await import("node:fs/promises");
  const text = account.startsWith("{") ? account : await readFile(account, "utf8");
  const credentials = asObject(parseJson(text));
  const kind = asNonEmptyText(credentials?.["type"]) ?? "";
  if (credentials === undefined || !ACCOUNT_TYPES.has(kind)) {
    const what = credentials === undefined ? "not JSON" : `of type "${kind}"`;
    const wanted = [...ACCOUNT_TYPES].join(" or ");
    throw new ProviderError("auth", `the credentials for Vertex are ${what}; they must be of type ${wanted}`);
  }
  return { credentials: credentials as JWTInput };
}

function listSecrets({ account }: VertexTokenSource): readonly (string | undefined)[] {
  const privateKey = asObject(parseJson(account ?? ""));
  return ["private_key", "client_secret", "refresh_token"].map((name) => asNonEmptyText(privateKey?.[name]));
}

/** Codes of connection failures, which may be retried. All other failures concern the credentials. */
const UNREACHABLE_CODES = /^(?:ECONN|EHOST|ENET|EPIPE|EAI_AGAIN|ENOTFOUND|ETIMEDOUT|UND_ERR_)/;

function createCredentialError(vendor: Vendor, error: unknown): ProviderError {
  const { status, code, message } = describeError(error);
  const answered = status !== undefined && status >= 400;
  const passes = answered ? status === 429 || status >= 500 : UNREACHABLE_CODES.test(code);
  const fault: ProviderFault = passes ? "network" : "auth";
  const what = `no token from Google${answered ? ` (it answered ${status})` : ""}: ${message}`;
  return new ProviderError(fault, `${vendor.name}: ${quoteVendor(vendor, what)}`, { status });
}

/** The library wraps the original error once or twice. */
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
