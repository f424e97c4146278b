import { readFileSync, statSync } from "node:fs";
import { createToken, MIN_TOKEN_CHARS } from "../server/token.ts";
import { UsageError } from "./usage-error.ts";

export type TokenFlags = { readonly tokenEnv?: string; readonly tokenFile?: string };

/** A token; `isNew` if this command created it and must therefore print it. */
export type ServerToken = { readonly token: string; readonly isNew: boolean; readonly warning?: string };

/** Returns the configured token, or creates one. A server that other machines can reach needs a configured token. */
export function resolveToken(flags: TokenFlags, host: string, env: NodeJS.ProcessEnv): ServerToken {
  if (flags.tokenEnv !== undefined && flags.tokenFile !== undefined) {
    throw new UsageError("--token-env and --token-file exclude each other. Give one of them.");
  }
  if (flags.tokenEnv !== undefined) {
    const token = env[flags.tokenEnv] ?? "";
    return { token: validateToken(token, `The variable ${flags.tokenEnv} (--token-env)`), isNew: false };
  }
  if (flags.tokenFile !== undefined) return readTokenFile(flags.tokenFile);
  if (!isLoopback(host)) {
    throw new UsageError(
      `--host ${host} accepts requests of other machines, so you must provide the token with --token-env NAME or ` +
        "--token-file FILE. To create one: openssl rand -base64 32",
    );
  }
  return { token: createToken(), isNew: true };
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function readTokenFile(file: string): ServerToken {
  try {
    const token = validateToken(readFileSync(file, "utf8").trim(), `The file ${file} (--token-file)`);
    const isOpen = (statSync(file).mode & 0o077) !== 0;
    if (!isOpen) return { token, isNew: false };
    return {
      token,
      isNew: false,
      warning: `${file} is readable by other users of this machine. Run: chmod 600 ${file}`,
    };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`The file of --token-file cannot be read: ${(error as Error).message}`);
  }
}

function validateToken(token: string, source: string): string {
  if (token.length >= MIN_TOKEN_CHARS && !/\s/.test(token)) return token;
  const what =
    token === ""
      ? "contains no token"
      : /\s/.test(token)
        ? "contains a token with white space"
        : `contains a token of ${token.length} characters; at least ${MIN_TOKEN_CHARS} are required`;
  throw new UsageError(`${source} ${what}. To create one: openssl rand -base64 32`);
}
