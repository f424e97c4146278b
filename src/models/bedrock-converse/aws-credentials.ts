import { ProviderError } from "../provider-error.ts";

export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
};

/** How a request is authenticated: with a bearer key, or with credentials that sign it. */
export type AwsAuthentication =
  | { readonly type: "bearer"; readonly key: string }
  | { readonly type: "signature"; readonly credentials: AwsCredentials };

/** Parses a key. `ACCESS:SECRET` and `ACCESS:SECRET:SESSION` sign; a bearer key never contains a colon. */
export function parseKey(provider: string, key: string): AwsAuthentication {
  if (!key.includes(":")) return { type: "bearer", key };
  const [accessKeyId, secretAccessKey, sessionToken, ...more] = key.split(":");
  if (!accessKeyId || !secretAccessKey || sessionToken === "" || more.length > 0) {
    throw new ProviderError(
      "auth",
      `the key of ${provider} has a colon and is neither ACCESS:SECRET nor ACCESS:SECRET:SESSION; a bearer key has none`,
    );
  }
  return { type: "signature", credentials: { accessKeyId, secretAccessKey, sessionToken } };
}

type CredentialChain = () => Promise<AwsCredentials>;

/**
 * Finds the machine's credentials in the order of the AWS SDK: the environment, the shared files, the role of the
 * container or of the instance. Loads the SDK's chain at the first call; the chain caches credentials until they expire.
 */
export function createMachineCredentials(): CredentialChain {
  let chain: Promise<CredentialChain> | undefined;
  return async () => {
    chain ??= import("./aws-credential-chain.ts").then(({ defaultProvider }) => defaultProvider());
    try {
      return await (await chain)();
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      throw new ProviderError(
        "auth",
        `the model has no key, and this machine has no AWS credentials (${cause}): specify a key in the definition, or give the worker a role`,
        { cause: error },
      );
    }
  };
}
