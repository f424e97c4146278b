import { askedOf, withoutModel } from "../gemini/model-path.ts";

/**
 * The address of a model on Vertex. The base says project and region (PROV-22, GAP-09), as
 * `https://HOST/v1/projects/P/locations/L`, or neither, which is enough for an API key ("express mode").
 */
export function vertexAddress(baseUrl: string, id: string): string {
  const base = new URL(baseUrl);
  const given = withoutModel(base.pathname).replace(/\/publishers(?:\/[^/]+)?$/, "");
  const root = given === "" || given.startsWith("/projects/") ? `/v1${given}` : given;
  const resource = resourceOf(id);
  // A whole name brings its own project.
  return askedOf(
    base,
    resource.startsWith("projects/") ? root.replace(/\/projects\/.*$/, "") : root,
    resource,
  );
}

/** `gemini-…`, `PUBLISHER/MODEL`, an endpoint of a tuned model, or a whole resource name. */
function resourceOf(id: string): string {
  if (/^(?:publishers|projects|models|endpoints)\//.test(id)) return id;
  const [publisher, model] = id.split("/", 2);
  return model === undefined ? `publishers/google/models/${id}` : `publishers/${publisher}/models/${model}`;
}

export function namesProject(url: string): boolean {
  return new URL(url).pathname.includes("/projects/");
}
