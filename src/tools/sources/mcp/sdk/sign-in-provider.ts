import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { omitUndefined } from "../../../../platform/text/omit-undefined.ts";

/** How the user signs in. */
export type SignInOptions = {
  /** The URL to which the browser returns. */
  readonly redirectUrl: string;
  /** Shows the page to the user. Resolves with the URL to which the browser returned. */
  readonly openPage: (page: URL) => Promise<URL>;
  /** A client that the authorization server knows. Otherwise the client is registered, or identified by its URL. */
  readonly client?: { readonly id: string; readonly secret?: string; readonly issuer: string };
  /** The URL of this client's published metadata, for servers that identify clients by it. */
  readonly clientMetadataUrl?: string;
  readonly scope?: string;
};

/** Provides the user's sign-in in the form that the library requires. Keeps everything in memory only. */
export class SignInProvider implements OAuthClientProvider {
  readonly #options: SignInOptions;
  readonly clientMetadataUrl?: string;
  #client: OAuthClientInformationMixed | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = "";
  #state = "";
  #authorizationCode: string | undefined;

  constructor(options: SignInOptions) {
    this.#options = options;
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl;
    const { client } = options;
    if (client === undefined) return;
    const secret = omitUndefined({ client_secret: client.secret });
    this.#client = { client_id: client.id, ...secret, issuer: client.issuer };
  }

  get redirectUrl(): string {
    return this.#options.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { redirectUrl, scope } = this.#options;
    return {
      client_name: "Holdfast",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      ...omitUndefined({ scope }),
    };
  }

  state(): string {
    this.#state = crypto.randomUUID();
    return this.#state;
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.#client;
  }

  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.#client = client;
  }

  tokens(): OAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  async redirectToAuthorization(page: URL): Promise<void> {
    const redirect = await this.#options.openPage(page);
    const { searchParams } = redirect;
    const error = searchParams.get("error");
    if (error !== null) throw new Error(`the sign-in was rejected: ${error}`);
    if (searchParams.get("state") !== this.#state)
      throw new Error("the answer belongs to another sign-in request (state)");
    this.#authorizationCode = searchParams.get("code") ?? undefined;
  }

  invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): void {
    if (scope === "all" || scope === "client") this.#client = undefined;
    if (scope === "all" || scope === "tokens") this.#tokens = undefined;
  }

  /** Returns the authorization code of the last sign-in, once. */
  takeAuthorizationCode(): string | undefined {
    const code = this.#authorizationCode;
    this.#authorizationCode = undefined;
    return code;
  }
}
