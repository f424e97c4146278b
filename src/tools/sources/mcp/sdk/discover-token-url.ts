import { discoverAuthorizationServerMetadata } from "@modelcontextprotocol/sdk/client/auth.js";
import type { Fetch } from "../http/server-fetch.ts";
import { findErrorReason, McpError } from "../mcp-error.ts";

/** Finds the token endpoint that an issuer publishes (RFC 8414, OpenID Connect Discovery). */
export async function discoverTokenUrl(issuer: string, fetch: Fetch): Promise<string> {
  const createError = (reason: string, cause?: unknown) =>
    new McpError("auth", `needs a token, and ${issuer} publishes no usable token endpoint: ${reason}`, {
      cause,
    });
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch }).catch((error) => {
    throw createError(findErrorReason(error), error);
  });
  if (metadata === undefined)
    throw createError("it publishes no metadata; specify `tokenUrl` instead of `issuer`");
  if (trimSlash(metadata.issuer) !== trimSlash(issuer)) {
    throw createError(`its metadata belongs to another issuer, ${metadata.issuer}`);
  }
  if (/^https:/i.test(issuer) && !/^https:/i.test(metadata.token_endpoint)) {
    throw createError(`it names ${metadata.token_endpoint}, where the secret would be sent unencrypted`);
  }
  return metadata.token_endpoint;
}

function trimSlash(address: string): string {
  return address.replace(/\/$/, "");
}
