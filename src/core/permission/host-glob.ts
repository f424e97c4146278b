import type { HostFact } from "./call-facts.ts";

/** Stands for an unknown host. A rule about all hosts applies to it too. */
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

/** Returns the port that an address without one means, or nothing for a scheme without a default. */
export function getDefaultPort(scheme: string): number | undefined {
  return DEFAULT_PORTS[scheme];
}

/**
 * Reports whether a pattern of a rule matches a host: `api.example.com`, `*.example.com` for every name below it but not
 * itself, `*` for all, each optionally with `:PORT`.
 *
 * @param certain - When true, an unknown port matches no pattern with a port; otherwise it matches any.
 */
export function matchHost(pattern: string, { host, port }: HostFact, certain: boolean): boolean {
  const [, name = "", wanted] = /^(.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? [];
  if (wanted !== undefined && (port === undefined ? certain : Number(wanted) !== port)) return false;
  if (name === "*") return host !== UNKNOWN_HOST || !certain;
  const plain = name.replace(/\.$/, "");
  return plain.startsWith("*.") ? host.endsWith(plain.slice(1)) : host === plain;
}
