import type { ModelConfig } from "../../schema/model.ts";

const PATH = "/responses";

/** The default API version for the address of a deployment (PROV-19). */
const DEPLOYMENT_API_VERSION = "2025-01-01-preview";

/**
 * The current form has no version in its query: `https://RESOURCE.openai.azure.com/openai/v1/responses`. The dated form has
 * one: with `apiVersion`, and at the address of a deployment, `…/openai/deployments/DEPLOYMENT`, which supports no other.
 * The base may be the resource, with or without `/openai`, or the whole address. A gateway's path prefix stays.
 */
export function buildAzureUrl({ baseUrl, apiVersion }: Pick<ModelConfig, "baseUrl" | "apiVersion">): string {
  const url = new URL(baseUrl);
  let root = url.pathname.replace(/\/+$/, "");
  if (root.endsWith(PATH)) root = root.slice(0, -PATH.length);
  const isDeployment = root.split("/").includes("deployments");
  const version =
    apiVersion ?? url.searchParams.get("api-version") ?? (isDeployment ? DEPLOYMENT_API_VERSION : undefined);
  if (root === "") root = "/openai";
  if (version === undefined && root.endsWith("/openai")) root += "/v1";
  if (version !== undefined) url.searchParams.set("api-version", version);
  url.pathname = root + PATH;
  return url.href;
}
