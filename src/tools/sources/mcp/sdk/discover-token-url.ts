import { discoverAuthorizationServerMetadata } from "@modelcontextprotocol/sdk/client/auth.js";
import type { Fetch } from "../http/server-fetch.ts";
import { findErrorReason, McpError } from "../mcp-error.ts";

/** The token end point that an issuer publishes (RFC 8414, OpenID Connect Discovery). */
export async function discoverTokenUrl(issuer: string, fetch: Fetch): Promise<string> {
  const createError = (reason: string, cause?: unknown) =>
    new McpError("auth", `needs a token, and ${issuer} does not say where: ${reason}`, { cause });
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch }).catch((error) => {
    throw createError(findErrorReason(error), error);
  });
  if (metadata === undefined)
    throw createError("it publishes no description; name `tokenUrl` instead of `issuer`");
  if (trimSlash(metadata.issuer) !== trimSlash(issuer)) {
    throw createError(`its description is that of another issuer, ${metadata.issuer}`);
  }
  if (/^https:/i.test(issuer) && !/^https:/i.test(metadata.token_endpoint)) {
    throw createError(`it names ${metadata.token_endpoint}, where the secret would be sent in the clear`);
  }
  return metadata.token_endpoint;
}

function trimSlash(address: string): string {
  return address.replace(/\/$/, "");
}
