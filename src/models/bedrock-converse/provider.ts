import type { AssistantMessage } from "../../schema/message.ts";
import { type AdapterOptions, ask, keyOf, type Question } from "../ask.ts";
import { endpoint } from "../endpoint.ts";
import type { ModelRequest, Provider, StreamOptions } from "../provider.ts";
import { type AwsCredentials, createMachineCredentials, proofOf } from "./credentials.ts";
import { BEDROCK_OVERFLOW } from "./failure.ts";
import { CONVERSE_STREAM } from "./frames.ts";
import { outputRoad } from "./output.ts";
import { regionOf } from "./region.ts";
import { converseRequest } from "./request.ts";
import { signature } from "./sign.ts";
import { ConverseAssembler } from "./stream.ts";

export type BedrockOptions = AdapterOptions & {
  /** For a model without a key; those of the machine unless given. */
  readonly credentials?: () => Promise<AwsCredentials>;
};

/** Amazon Bedrock's Converse API, streamed (PROV-23). */
export class BedrockConverse implements Provider {
  readonly id = "bedrock";
  readonly protocol = "bedrock_converse_stream";
  readonly outputRoad = outputRoad;
  readonly #adapter: BedrockOptions;
  readonly #credentials: () => Promise<AwsCredentials>;

  constructor(adapter: BedrockOptions) {
    this.#adapter = adapter;
    this.#credentials = adapter.credentials ?? createMachineCredentials();
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<AssistantMessage> {
    return await ask(this.#adapter, request, options, async () => {
      const url = converseUrl(request.model.baseUrl, request.model.id);
      return {
        url,
        body: converseRequest(request),
        form: CONVERSE_STREAM,
        overflow: BEDROCK_OVERFLOW,
        assemble: (context) => new ConverseAssembler(context),
        ...(await this.#proof(request, url, options.now ?? Date.now)),
      };
    });
  }

  /** Headers of one's own go before a key, and a key before the credentials of the machine. */
  async #proof(
    request: ModelRequest,
    url: string,
    now: () => number,
  ): Promise<Pick<Question, "headers" | "sign" | "secrets">> {
    const given = Object.keys(request.headers ?? request.model.headers);
    if (given.some((name) => name.toLowerCase() === "authorization")) return { headers: {} };
    const key = keyOf(request);
    const proof = key === undefined ? undefined : proofOf(request.model.provider, key);
    if (proof?.type === "bearer") return { headers: { authorization: `Bearer ${proof.key}` } };
    const credentials = proof?.credentials ?? (await this.#credentials());
    const region = regionOf(url, process.env);
    return {
      headers: {},
      secrets: [credentials.secretAccessKey, credentials.sessionToken],
      sign: async (call) => await signature(call, credentials, region, now()),
    };
  }
}

/** The id of a model may be an ARN: every `:` and `/` in it is encoded, as Amazon's own clients do it. */
function converseUrl(base: string, id: string): string {
  const encoded = encodeURIComponent(id).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return endpoint(base, `/model/${encoded}/converse-stream`, "", false);
}
