/** Returns the limits of a Gemini model: a million input tokens, since 2.5 also 65,536 output tokens. */
export function getGeminiLimits(id: string): { readonly contextWindow: number; readonly maxTokens?: number } {
  const recent = /^gemini-(?:2\.5|[3-9]|\d{2}|[a-z])/.test(id);
  return { contextWindow: 1_000_000, ...(recent && { maxTokens: 65_536 }) };
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the base address of Vertex, from the variables of Google's own tools. Without a project it is undefined, unless
 * there is a key, which implies a project.
 */
export function getVertexBaseUrl(environment: Environment, hasKey: boolean): string | undefined {
  const { GOOGLE_CLOUD_PROJECT: project, GOOGLE_VERTEX_BASE_URL: baseUrl } = environment;
  const location = environment["GOOGLE_CLOUD_LOCATION"] || "global";
  const root = (host: string) => (baseUrl || `https://${host}`).replace(/\/+$/, "");
  if (project) return `${root(getVertexHost(location))}/v1/projects/${project}/locations/${location}`;
  return hasKey ? `${root(getVertexHost("global"))}/v1` : undefined;
}

/** Locations that combine several regions. */
const MULTI_REGIONS = new Set(["us", "eu"]);

function getVertexHost(location: string): string {
  if (location === "global") return "aiplatform.googleapis.com";
  return MULTI_REGIONS.has(location)
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`;
}
