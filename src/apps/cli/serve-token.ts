import { readFileSync, statSync } from "node:fs";
import { createToken, MIN_TOKEN_CHARS } from "../server/token.ts";
import { UsageError } from "./usage-error.ts";

export type TokenFlags = { readonly tokenEnv?: string; readonly tokenFile?: string };

/** `isNew`: it was made here, and has to be told to whoever is to ask. */
export type ServerToken = { readonly token: string; readonly isNew: boolean; readonly warning?: string };

/** Where others can reach the server, a token that everybody's start makes anew is none to hand out. */
export function resolveToken(flags: TokenFlags, host: string, env: NodeJS.ProcessEnv): ServerToken {
  if (flags.tokenEnv !== undefined && flags.tokenFile !== undefined) {
    throw new UsageError("--token-env and --token-file both name a token; leave one out.");
  }
  if (flags.tokenEnv !== undefined) {
    const token = env[flags.tokenEnv] ?? "";
    return { token: validateToken(token, `The variable ${flags.tokenEnv} (--token-env)`), isNew: false };
  }
  if (flags.tokenFile !== undefined) return readTokenFile(flags.tokenFile);
  if (!isLoopback(host)) {
    throw new UsageError(
      `--host ${host} lets other machines ask: name a token that they know, with --token-env NAME or --token-file FILE. ` +
        "Make one with: openssl rand -base64 32",
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
      warning: `${file} can be read by others of this machine: chmod 600 ${file}`,
    };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`--token-file names a file that cannot be read: ${(error as Error).message}`);
  }
}

function validateToken(token: string, source: string): string {
  if (token.length >= MIN_TOKEN_CHARS && !/\s/.test(token)) return token;
  const what =
    token === ""
      ? "holds no token"
      : /\s/.test(token)
        ? "holds a token with white space in it"
        : `holds a token of ${token.length} characters; at least ${MIN_TOKEN_CHARS} are asked for`;
  throw new UsageError(`${source} ${what}. Make one with: openssl rand -base64 32`);
}
