import type { OpenApiSettings } from "../../../schema/openapi.ts";
import { at, isObject, listOf, textOf } from "./json.ts";
import { isInnerHost } from "./public-address.ts";
import { isAddress } from "./read-document.ts";
import { namesSecret } from "./secrets.ts";

export type Server =
  | { readonly ok: true; readonly base: string; readonly publicOnly: boolean }
  | { readonly ok: false; readonly why: string };

/**
 * Where the requests of an operation go (OAPI-03): the author's word, then the first server of the operation, its path
 * or the document.
 *
 * @param lists - `servers` of operation, path and document.
 * @param address - Of the document.
 */
export function serverOf(settings: OpenApiSettings, lists: readonly unknown[], address: string): Server {
  if (settings.baseUrl !== undefined) return plain(new URL(settings.baseUrl), false);
  const server = lists.map(listOf).find((list) => list.length > 0)?.[0];
  const declared = textOf(at(server, "url"));
  if (declared === undefined) return refused("the document names no server: say baseUrl");
  const written = withVariables(declared, at(server, "variables"));
  const fromAddress = isAddress(address);
  if (!URL.canParse(written) && !fromAddress) {
    return refused(`the document's server "${declared}" is meant from where the document lies: say baseUrl`);
  }
  if (!URL.canParse(written, address))
    return refused(`the document's server "${declared}" is no address: say baseUrl`);
  const url = new URL(written, address);
  if (!fromAddress || url.origin === new URL(address).origin) return plain(url, false);
  // What lies at an address may be another thing tomorrow: it does not decide where secrets go, nor leads inside.
  if (holdsSecrets(settings)) {
    return refused(
      `the document lies at ${new URL(address).origin} and names the server ${url.origin}: where secrets go is the definition's to say; say baseUrl = "${url.href}" if that is right`,
    );
  }
  if (isInnerHost(url.hostname)) {
    return refused(
      `the document names the server ${url.origin}, which is not of the public network: say baseUrl`,
    );
  }
  return plain(url, true);
}

function holdsSecrets({ auth, headers }: OpenApiSettings): boolean {
  return auth.type !== "none" || Object.values(headers).some(namesSecret);
}

function refused(why: string): Server {
  return { ok: false, why };
}

function plain(url: URL, publicOnly: boolean): Server {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return refused(`the server ${url.href} is not of http or https`);
  }
  if (url.username !== "" || url.password !== "") {
    return refused("the address of the server holds a user or a password: use auth instead");
  }
  if (url.search !== "" || url.hash !== "") {
    return refused(
      `the address of the server ends with "${url.search}${url.hash}", which cannot go before a path`,
    );
  }
  return { ok: true, base: url.origin + url.pathname.replace(/\/+$/, ""), publicOnly };
}

/** `https://{region}.example.com`, with what the document says by default. */
function withVariables(url: string, variables: unknown): string {
  return url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = isObject(variables) ? at(variables, name) : undefined;
    return textOf(at(variable, "default")) ?? whole;
  });
}
