type Environment = Readonly<Record<string, string | undefined>>;

/** As it stands in the names of Amazon's hosts, private ones included. */
const BEDROCK_HOST = /(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z]{2}(?:-[a-z]+)+-\d+)\./;

const DEFAULT_REGION = "us-east-1";

/** The region that a signature names: the address's, else the environment's. */
export function resolveRegion(url: string, environment: Environment): string {
  const named = BEDROCK_HOST.exec(new URL(url).hostname)?.[1];
  return named ?? (environment["AWS_REGION"] || environment["AWS_DEFAULT_REGION"] || DEFAULT_REGION);
}
