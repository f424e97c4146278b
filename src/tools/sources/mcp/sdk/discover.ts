import { discoverAuthorizationServerMetadata } from "@modelcontextprotocol/sdk/client/auth.js";
import { McpError, reasonOf } from "../error.ts";
import type { Fetch } from "../http/fetch.ts";

/** The token end point that an issuer publishes (RFC 8414, OpenID Connect Discovery). */
export async function discoverTokenUrl(issuer: string, fetch: Fetch): Promise<string> {
  const failed = (why: string, cause?: unknown) =>
    new McpError("auth", `needs a token, and ${issuer} does not say where: ${why}`, { cause });
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch }).catch((error) => {
    throw failed(reasonOf(error), error);
  });
  if (metadata === undefined)
    throw failed("it publishes no description; name `tokenUrl` instead of `issuer`");
  if (withoutSlash(metadata.issuer) !== withoutSlash(issuer)) {
    throw failed(`its description is that of another issuer, ${metadata.issuer}`);
  }
  if (/^https:/i.test(issuer) && !/^https:/i.test(metadata.token_endpoint)) {
    throw failed(`it names ${metadata.token_endpoint}, where the secret would be sent in the clear`);
  }
  return metadata.token_endpoint;
}

function withoutSlash(address: string): string {
  return address.replace(/\/$/, "");
}
