import { assertRequestSize } from "../../models/assert-request-size.ts";
import type { ModelRequest, StreamOptions } from "../../models/provider.ts";
import { ProviderError } from "../../models/provider-error.ts";
import { invalidateSecrets, prepareSecrets } from "../../models/secrets.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { Dependencies } from "../dependencies.ts";
import { DefinitionError } from "../step/failure.ts";

/**
 * Calls a model, and once more if the vendor rejects the key and another key is available (CRED-01).
 *
 * @param request - Builds the request with the secrets at that time.
 * @param onRetry - Called before the second attempt.
 */
export async function askOnce(
  model: ModelConfig,
  request: () => ModelRequest,
  { providers, secrets }: Pick<Dependencies, "providers" | "secrets">,
  options: StreamOptions,
  onRetry: () => void = () => undefined,
): Promise<AssistantMessage> {
  const provider = providers.get(model.api);
  if (provider === undefined) throw new DefinitionError(`This worker does not support the API ${model.api}`);
  const used = await prepareSecrets(model, secrets);
  const asked = request();
  assertRequestSize(asked.messages);
  try {
    return await provider.stream(asked, options);
  } catch (error) {
    const refused = error instanceof ProviderError && error.fault === "auth";
    if (!refused || !(await invalidateSecrets(used, secrets))) throw error;
    await prepareSecrets(model, secrets);
    onRetry();
    return await provider.stream(request(), options);
  }
}
