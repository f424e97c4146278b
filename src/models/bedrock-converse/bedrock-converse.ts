import type { AssistantMessage } from "../../schema/message.ts";
import { buildEndpoint } from "../build-endpoint.ts";
import type { ModelRequest, Provider, StreamOptions } from "../provider.ts";
import {
  type AdapterOptions,
  requireKey,
  sendVendorRequest,
  type VendorRequest,
} from "../send-vendor-request.ts";
import { type AwsCredentials, createMachineCredentials, parseKey } from "./aws-credentials.ts";
import { ConverseAssembler } from "./converse-assembler.ts";
import { BEDROCK_OVERFLOW_PATTERN } from "./create-frame-error.ts";
import { CONVERSE_STREAM } from "./frame-reader.ts";
import { selectOutputMode } from "./output-config.ts";
import { buildConverseRequest } from "./request.ts";
import { resolveRegion } from "./resolve-region.ts";
import { signRequest } from "./sign-request.ts";

export type BedrockOptions = AdapterOptions & {
  /** For a model without a key; the machine's credentials by default. */
  readonly credentials?: () => Promise<AwsCredentials>;
};

/** Amazon Bedrock's Converse API, streamed (PROV-23). */
export class BedrockConverse implements Provider {
  readonly id = "bedrock";
  readonly protocol = "bedrock_converse_stream";
  readonly selectOutputMode = selectOutputMode;
  readonly #adapter: BedrockOptions;
  readonly #credentials: () => Promise<AwsCredentials>;

  constructor(adapter: BedrockOptions) {
    this.#adapter = adapter;
    this.#credentials = adapter.credentials ?? createMachineCredentials();
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage> {
    return await sendVendorRequest(this.#adapter, request, options, async () => {
      const url = buildConverseUrl(request.model.baseUrl, request.model.id);
      return {
        url,
        body: buildConverseRequest(request),
        streamFormat: CONVERSE_STREAM,
        overflowPattern: BEDROCK_OVERFLOW_PATTERN,
        createAssembler: (context) => new ConverseAssembler(context),
        ...(await this.#authenticate(request, url, options.now ?? Date.now)),
      };
    });
  }

  /** Configured headers take precedence over a key, and a key over the machine's credentials. */
  async #authenticate(
    request: ModelRequest,
    url: string,
    now: () => number,
  ): Promise<Pick<VendorRequest, "headers" | "signHeaders" | "secrets">> {
    const given = Object.keys(request.headers ?? request.model.headers);
    if (given.some((name) => name.toLowerCase() === "authorization")) return { headers: {} };
    const key = requireKey(request);
    const authentication = key === undefined ? undefined : parseKey(request.model.provider, key);
    if (authentication?.type === "bearer")
      return { headers: { authorization: `Bearer ${authentication.key}` } };
    const credentials = authentication?.credentials ?? (await this.#credentials());
    const region = resolveRegion(url, process.env);
    return {
      headers: {},
      secrets: [credentials.secretAccessKey, credentials.sessionToken],
      signHeaders: async (call) => await signRequest(call, credentials, region, now()),
    };
  }
}

/** Builds the URL. The id of a model may be an ARN: `:` and `/` in it are encoded, as Amazon's own clients do. */
function buildConverseUrl(base: string, id: string): string {
  const encoded = encodeURIComponent(id).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return buildEndpoint(base, `/model/${encoded}/converse-stream`, "", false);
}
