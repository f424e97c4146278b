import { buildModelUrl, stripModel } from "../gemini/model-url.ts";

/**
 * Builds the address of a model on Vertex. The base contains project and region (PROV-22, GAP-09), as
 * `https://HOST/v1/projects/P/locations/L`, or neither, which suffices for an API key ("express mode").
 */
export function buildVertexUrl(baseUrl: string, id: string): string {
  const base = new URL(baseUrl);
  const given = stripModel(base.pathname).replace(/\/publishers(?:\/[^/]+)?$/, "");
  const root = given === "" || given.startsWith("/projects/") ? `/v1${given}` : given;
  const resource = toResourceName(id);
  // A full resource name contains its own project.
  return buildModelUrl(
    base,
    resource.startsWith("projects/") ? root.replace(/\/projects\/.*$/, "") : root,
    resource,
  );
}

/** Accepts `gemini-…`, `PUBLISHER/MODEL`, an endpoint of a tuned model, or a full resource name. */
function toResourceName(id: string): string {
  if (/^(?:publishers|projects|models|endpoints)\//.test(id)) return id;
  const [publisher, model] = id.split("/", 2);
  return model === undefined ? `publishers/google/models/${id}` : `publishers/${publisher}/models/${model}`;
}

export function hasProject(url: string): boolean {
  return new URL(url).pathname.includes("/projects/");
}
