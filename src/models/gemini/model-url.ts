import { ProviderError } from "../provider-error.ts";

/** The API method, which also determines the format of the answer. */
const METHOD = ":streamGenerateContent";

/** Appends a model's resource and the method to a path. The base's query stays. */
export function buildModelUrl(base: URL, root: string, resource: string): string {
  const segments = resource.split("/");
  if (segments.some((segment) => /^\.{0,2}$/.test(segment))) {
    throw new ProviderError(
      "api",
      `"${resource}" is not the name of a model: it has an empty or dotted part`,
    );
  }
  const url = new URL(base);
  const path = segments.map((segment) =>
    encodeURIComponent(segment).replace(/%40/g, "@").replace(/%3A/gi, ":"),
  );
  url.pathname = `${root}/${path.join("/")}${METHOD}`;
  url.searchParams.set("alt", "sse");
  return url.href;
}

/** Removes the model from a path that already names one, so that nothing is appended twice. */
export function stripModel(path: string): string {
  return path.replace(/\/+$/, "").replace(/\/(?:models|tunedModels)(?:\/[^/]+)?$/, "");
}
