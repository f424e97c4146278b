import type { OpenApiSettings } from "../../../schema/openapi.ts";
import { asList, asText, getOwn, isObject } from "./json.ts";
import { isPrivateHost } from "./public-address.ts";
import { isUrl } from "./read-document.ts";
import { hasReference } from "./request-secrets.ts";

export type SelectedServer =
  | { readonly ok: true; readonly base: string; readonly publicOnly: boolean }
  | { readonly ok: false; readonly why: string };

/**
 * Where the requests of an operation go (OAPI-03): the author's word, then the first server of the operation, its path
 * or the document.
 *
 * @param lists - `servers` of operation, path and document.
 * @param address - Of the document.
 */
export function selectServer(
  settings: OpenApiSettings,
  lists: readonly unknown[],
  address: string,
): SelectedServer {
  if (settings.baseUrl !== undefined) return toSelectedServer(new URL(settings.baseUrl), false);
  const server = lists.map(asList).find((list) => list.length > 0)?.[0];
  const declared = asText(getOwn(server, "url"));
  if (declared === undefined) return rejectServer("the document names no server: say baseUrl");
  const configured = expandVariables(declared, getOwn(server, "variables"));
  const fromDocument = isUrl(address);
  if (!URL.canParse(configured) && !fromDocument) {
    return rejectServer(
      `the document's server "${declared}" is meant from where the document lies: say baseUrl`,
    );
  }
  if (!URL.canParse(configured, address))
    return rejectServer(`the document's server "${declared}" is no address: say baseUrl`);
  const url = new URL(configured, address);
  if (!fromDocument || url.origin === new URL(address).origin) return toSelectedServer(url, false);
  // What lies at an address may be another thing tomorrow: it does not decide where secrets go, nor leads inside.
  if (holdsSecrets(settings)) {
    return rejectServer(
      `the document lies at ${new URL(address).origin} and names the server ${url.origin}: where secrets go is the definition's to say; say baseUrl = "${url.href}" if that is right`,
    );
  }
  if (isPrivateHost(url.hostname)) {
    return rejectServer(
      `the document names the server ${url.origin}, which is not of the public network: say baseUrl`,
    );
  }
  return toSelectedServer(url, true);
}

function holdsSecrets({ auth, headers }: OpenApiSettings): boolean {
  return auth.type !== "none" || Object.values(headers).some(hasReference);
}

function rejectServer(reason: string): SelectedServer {
  return { ok: false, why: reason };
}

function toSelectedServer(url: URL, publicOnly: boolean): SelectedServer {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return rejectServer(`the server ${url.href} is not of http or https`);
  }
  if (url.username !== "" || url.password !== "") {
    return rejectServer("the address of the server holds a user or a password: use auth instead");
  }
  if (url.search !== "" || url.hash !== "") {
    return rejectServer(
      `the address of the server ends with "${url.search}${url.hash}", which cannot go before a path`,
    );
  }
  return { ok: true, base: url.origin + url.pathname.replace(/\/+$/, ""), publicOnly };
}

/** `https://{region}.example.com`, with what the document says by default. */
function expandVariables(url: string, variables: unknown): string {
  return url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = isObject(variables) ? getOwn(variables, name) : undefined;
    return asText(getOwn(variable, "default")) ?? whole;
  });
}
