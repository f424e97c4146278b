import { ProviderError } from "../provider-error.ts";

/** What is asked of a model, and in which form its answer comes. */
const METHOD = ":streamGenerateContent";

/** Puts the resource of a model and what is asked of it behind a path. The query of the base stays. */
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

/** A path that already names a model, without it; nothing is appended twice. */
export function stripModel(path: string): string {
  return path.replace(/\/+$/, "").replace(/\/(?:models|tunedModels)(?:\/[^/]+)?$/, "");
}
