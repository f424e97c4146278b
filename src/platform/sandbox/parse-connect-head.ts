import { type Destination, parseDestination } from "../text/network-rule.ts";

/** Why a request is not for this proxy. */
type HeadProblem = "malformed" | "not-connect" | "ambiguous";

export type ConnectHead =
  | { readonly ok: true; readonly destination: Destination }
  | { readonly ok: false; readonly problem: HeadProblem };

/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e]+) HTTP\/1\.[01]$/;

const FIELD = /^([^:]*):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;

/**
 * Parses a request for a tunnel strictly: whatever two programs could read differently is refused, so that no other proxy on
 * the way sees another request than the checked one.
 *
 * @param head - The bytes up to the empty line, without it, as latin1.
 */
export function parseConnectHead(head: string): ConnectHead {
  const [requestLine = "", ...lines] = head.split("\r\n");
  const request = REQUEST_LINE.exec(requestLine);
  if (request === null) return { ok: false, problem: "malformed" };
  const [, method, target = ""] = request;
  const fields = lines.map((line) => FIELD.exec(line));
  const hosts: string[] = [];
  for (const field of fields) {
    const [, name = "", value = ""] = field ?? [];
    if (field === null || !TOKEN.test(name)) return { ok: false, problem: "malformed" };
    // A tunnel's request has no body.
    if (/^(?:content-length|transfer-encoding)$/i.test(name)) return { ok: false, problem: "ambiguous" };
    if (/^host$/i.test(name)) hosts.push(value.trim());
  }
  if (method !== "CONNECT") return { ok: false, problem: "not-connect" };
  const destination = parseDestination(target);
  if (destination === undefined) return { ok: false, problem: "malformed" };
  if (hosts.length > 1 || !hosts.every((host) => isSameHost(host, destination))) {
    return { ok: false, problem: "ambiguous" };
  }
  return { ok: true, destination };
}

/** Returns whether the `Host` field names the destination, with or without its port. */
function isSameHost(text: string, { host, port }: Destination): boolean {
  return [text, `${text}:${port}`].some((full) => {
    const named = parseDestination(full);
    return named?.host === host && named.port === port;
  });
}
