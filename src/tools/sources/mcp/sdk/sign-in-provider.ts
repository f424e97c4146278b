import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";

/** A person, and what they sign in with. */
export type SignInOptions = {
  /** Where the browser is sent back to. */
  readonly redirectUrl: string;
  /** Shows the page to the person; resolves with the address that the browser was sent back to. */
  readonly openPage: (page: URL) => Promise<URL>;
  /** A client that the authorization server knows already; else it is registered, or named by its address. */
  readonly client?: { readonly id: string; readonly secret?: string; readonly issuer: string };
  /** Where a description of this client is published, for servers that know clients by that. */
  readonly clientAddress?: string;
  readonly scope?: string;
};

/** What a person's signing in comes to, as the library asks for it. Everything is in memory only. */
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
    if (options.clientAddress !== undefined) this.clientMetadataUrl = options.clientAddress;
    const { client } = options;
    if (client === undefined) return;
    const secret = client.secret === undefined ? {} : { client_secret: client.secret };
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
      ...(scope === undefined ? {} : { scope }),
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
    if (error !== null) throw new Error(`signing in was refused: ${error}`);
    if (searchParams.get("state") !== this.#state)
      throw new Error("the answer is to another question (state)");
    this.#authorizationCode = searchParams.get("code") ?? undefined;
  }

  invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): void {
    if (scope === "all" || scope === "client") this.#client = undefined;
    if (scope === "all" || scope === "tokens") this.#tokens = undefined;
  }

  /** The code of the last visit, once. */
  takeAuthorizationCode(): string | undefined {
    const code = this.#authorizationCode;
    this.#authorizationCode = undefined;
    return code;
  }
}
