import type { HostFact } from "./call-facts.ts";

/** A host that is not known: a rule about all hosts is about it too. */
export const UNKNOWN_HOST = "?";

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  http: 80,
  https: 443,
  ws: 80,
  wss: 443,
  ftp: 21,
  ssh: 22,
  git: 9418,
};

/** The port that an address without one means; nothing for a scheme that has none. */
export function getDefaultPort(scheme: string): number | undefined {
  return DEFAULT_PORTS[scheme];
}

/**
 * Whether a pattern of a rule stands for a host: `api.example.com`, `*.example.com` for every name below it and not
 * itself, `*` for all, each perhaps with `:PORT`.
 *
 * @param certain - A port that is not known matches none. Otherwise it matches any.
 */
export function matchHost(pattern: string, { host, port }: HostFact, certain: boolean): boolean {
  const [, name = "", wanted] = /^(.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? [];
  if (wanted !== undefined && (port === undefined ? certain : Number(wanted) !== port)) return false;
  if (name === "*") return host !== UNKNOWN_HOST || !certain;
  const plain = name.replace(/\.$/, "");
  return plain.startsWith("*.") ? host.endsWith(plain.slice(1)) : host === plain;
}
