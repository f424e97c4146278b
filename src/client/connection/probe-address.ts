import { connect as dial } from "node:net";

/** Whether a server can be reached by TCP, and the reason if not. */
export type ProbeResult = { readonly ok: true } | { readonly ok: false; readonly reason: string };

const REASON_TEXT: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the host name could not be resolved",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
};

/** Probes an address with a plain TCP connection: gRPC hides a refused connection behind its own retries. */
export function probeAddress(address: string, timeoutMs: number): Promise<ProbeResult> {
  const { host, port } = parseHostAndPort(address);
  return new Promise((resolve) => {
    const socket = dial({ host, port });
    const settle = (reached: ProbeResult): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(reached);
    };
    const timer = setTimeout(
      () => settle({ ok: false, reason: `no connection after ${timeoutMs / 1000} s` }),
      timeoutMs,
    );
    socket.once("connect", () => settle({ ok: true }));
    socket.once("error", (error: NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] }) => {
      const code = error.code ?? error.errors?.[0]?.code ?? "";
      settle({
        ok: false,
        reason: `${REASON_TEXT[code] ?? error.message}${code === "" ? "" : ` (${code})`}`,
      });
    });
  });
}

/** The default port of Temporal's frontend. */
const DEFAULT_PORT = 7233;

/** Parses `host`, `host:port` or `[ipv6]:port`. */
export function parseHostAndPort(address: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d+))?$/.exec(address);
  const port = Number(match?.[3] ?? DEFAULT_PORT);
  return { host: match?.[1] ?? match?.[2] ?? address, port: port <= 65_535 ? port : DEFAULT_PORT };
}

/** Tells whether connections go through a proxy, so that a plain TCP probe proves nothing. */
export function isProxied(env: NodeJS.ProcessEnv = process.env): boolean {
  return ["grpc_proxy", "https_proxy", "http_proxy"].some((name) => (env[name] ?? "") !== "");
}
