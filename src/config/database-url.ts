/** The variable with the address of the database that workers and clients on several hosts share. */
export const DATABASE_URL = "HOLDFAST_DATABASE_URL";

/** Returns the given address, or else the environment's. An empty address means none: all data is in the home folder. */
export function getDatabaseUrl(
  givenUrl: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const address = givenUrl ?? env[DATABASE_URL];
  return address === undefined || address.trim() === "" ? undefined : address.trim();
}
