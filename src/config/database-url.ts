/** Names the address of the database that workers and clients of several hosts share. */
export const DATABASE_URL = "HOLDFAST_DATABASE_URL";

/** The address as it was named, else as the environment has it. An empty word names none: all lies in the home folder. */
export function getDatabaseUrl(
  givenUrl: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const address = givenUrl ?? env[DATABASE_URL];
  return address === undefined || address.trim() === "" ? undefined : address.trim();
}
