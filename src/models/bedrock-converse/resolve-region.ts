type Environment = Readonly<Record<string, string | undefined>>;

/** The region in the names of Amazon's hosts, including private ones. */
const BEDROCK_HOST = /(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z]{2}(?:-[a-z]+)+-\d+)\./;

const DEFAULT_REGION = "us-east-1";

/** Returns the region for a signature: from the URL, otherwise from the environment. */
export function resolveRegion(url: string, environment: Environment): string {
  const named = BEDROCK_HOST.exec(new URL(url).hostname)?.[1];
  return named ?? (environment["AWS_REGION"] || environment["AWS_DEFAULT_REGION"] || DEFAULT_REGION);
}
