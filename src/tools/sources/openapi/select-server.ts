import { isPrivateHost } from "../../../platform/network/public-address.ts";
import { asList, asText, getField, isObject } from "../../../platform/text/json.ts";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import { isUrl } from "./read-document.ts";
import { hasReference } from "./request-secrets.ts";

export type SelectedServer =
  | { readonly ok: true; readonly base: string; readonly publicOnly: boolean }
  | { readonly ok: false; readonly reason: string };

/**
 * Selects the server of an operation (OAPI-03): the author's, else the first server of the operation, of its path
 * or of the document.
 *
 * @param lists - `servers` of operation, path and document.
 * @param address - The address of the document.
 */
export function selectServer(
  settings: OpenApiSettings,
  lists: readonly unknown[],
  address: string,
): SelectedServer {
  if (settings.baseUrl !== undefined) return toSelectedServer(new URL(settings.baseUrl), false);
  const server = lists.map(asList).find((list) => list.length > 0)?.[0];
  const declared = asText(getField(server, "url"));
  if (declared === undefined) return rejectServer("the document names no server: specify baseUrl");
  const configured = expandVariables(declared, getField(server, "variables"));
  const fromDocument = isUrl(address);
  if (!URL.canParse(configured) && !fromDocument) {
    return rejectServer(
      `the document's server "${declared}" is relative to the location of the document: specify baseUrl`,
    );
  }
  if (!URL.canParse(configured, address))
    return rejectServer(`the document's server "${declared}" is not a valid URL: specify baseUrl`);
  const url = new URL(configured, address);
  if (!fromDocument || url.origin === new URL(address).origin) return toSelectedServer(url, false);
  // The content of a URL may change: it must not decide where secrets are sent, nor refer to private addresses.
  if (holdsSecrets(settings)) {
    return rejectServer(
      `the document is at ${new URL(address).origin} and names the server ${url.origin}: only the definition may decide where secrets are sent; specify baseUrl = "${url.href}" if that is correct`,
    );
  }
  if (isPrivateHost(url.hostname)) {
    return rejectServer(
      `the document names the server ${url.origin}, which is not on the public network: specify baseUrl`,
    );
  }
  return toSelectedServer(url, true);
}

function holdsSecrets({ auth, headers }: OpenApiSettings): boolean {
  return auth.type !== "none" || Object.values(headers).some(hasReference);
}

function rejectServer(reason: string): SelectedServer {
  return { ok: false, reason };
}

function toSelectedServer(url: URL, publicOnly: boolean): SelectedServer {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return rejectServer(`the server ${url.href} does not use http or https`);
  }
  if (url.username !== "" || url.password !== "") {
    return rejectServer("the address of the server contains a user or a password: use auth instead");
  }
  if (url.search !== "" || url.hash !== "") {
    return rejectServer(
      `the address of the server ends with "${url.search}${url.hash}", which cannot precede a path`,
    );
  }
  return { ok: true, base: url.origin + url.pathname.replace(/\/+$/, ""), publicOnly };
}

/** Expands `https://{region}.example.com` with the document's default values. */
function expandVariables(url: string, variables: unknown): string {
  return url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = isObject(variables) ? getField(variables, name) : undefined;
    return asText(getField(variable, "default")) ?? whole;
  });
}
