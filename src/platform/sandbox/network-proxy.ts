import { lookup } from "node:dns/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { isPrivateAddress } from "../network/public-address.ts";
import { canonicalizeAddress } from "../text/ip-address.ts";
import { type Destination, matchesNetworkRule, type NetworkRule } from "../text/network-rule.ts";
import { parseConnectHead } from "./parse-connect-head.ts";

// Invariants
//   N1. A connection leads to an address that was checked: names are resolved once, and the socket is opened to the result.
//   N2. A connection has one destination. Its bytes after the request are never read as another request.
//   N3. Every connection that was refused, or made and ended, is reported once. One that leaves before its request is
//       complete is not reported.
//   N4. After `close` has resolved, no socket of the proxy is open.
//
// What a tunnel contains is not read: most of it is encrypted. So an allowed host that itself forwards, such as another
// proxy, leads to everything that it forwards to.

/** Why a connection was refused or failed. */
type RefusalReason =
  /** Not an unambiguous request for a tunnel. */
  | "malformed"
  /** A plain proxy request: only tunnels are offered. */
  | "not-connect"
  | "too-large"
  | "too-slow"
  | "too-many"
  /** No rule allows the destination. */
  | "not-allowed"
  /** The name leads to an address that is not public, which no rule allows. */
  | "private-address"
  | "unresolvable"
  | "unreachable";

/** A connection that has ended. */
export type ConnectionReport = {
  /** Absent if the request named none. */
  readonly host?: string;
  readonly port?: number;
  readonly decision: "allowed" | "refused";
  /** Absent if the connection was made. */
  readonly reason?: RefusalReason;
  /** The address that it was connected to. */
  readonly address?: string;
  /** Bytes from the sandbox, after the request. */
  readonly bytesUp: number;
  /** Bytes to the sandbox, after the answer to the request. */
  readonly bytesDown: number;
};

export type ProxyOptions = {
  readonly rules: readonly NetworkRule[];
  /** Must not throw. */
  readonly onConnection: (report: ConnectionReport) => void;
  /** Resolves a name to all its addresses; by default as the system does. */
  readonly resolve?: ((name: string) => Promise<readonly string[]>) | undefined;
  readonly maxConnections?: number | undefined;
  readonly headTimeoutMs?: number | undefined;
  readonly connectTimeoutMs?: number | undefined;
  /** A tunnel without bytes in either direction is closed after this time. */
  readonly idleTimeoutMs?: number | undefined;
};

export type NetworkProxy = {
  /** Answers connections to a listening socket, which the proxy closes with itself. */
  readonly attach: (listener: Server) => void;
  /** Ends all connections. */
  readonly close: () => Promise<void>;
};

/** Programs send a few hundred bytes: a line, the host, their name, perhaps credentials. */
const MAX_HEAD_BYTES = 8 * 1024;

/** The programs are on the same machine. */
const HEAD_TIMEOUT_MS = 10_000;

const CONNECT_TIMEOUT_MS = 30_000;

/** As long as many load balancers wait. */
const IDLE_TIMEOUT_MS = 350_000;

/** Package managers open some tens of connections. More would let a sandbox exhaust the worker's descriptors. */
const MAX_CONNECTIONS = 128;

const END_OF_HEAD = "\r\n\r\n";

/** The status line for each reason, and a sentence for the user of the program in the sandbox. */
const ANSWERS = {
  malformed: ["400 Bad Request", "This is not an unambiguous request for a tunnel."],
  "not-connect": ["405 Method Not Allowed", "This proxy offers only tunnels (CONNECT). Use https."],
  "too-large": ["431 Request Header Fields Too Large", "The request is too large."],
  "too-slow": ["408 Request Timeout", "The request did not arrive in time."],
  "too-many": ["503 Service Unavailable", "The sandbox has too many open connections."],
  "not-allowed": ["403 Forbidden", "The sandbox does not allow this host and port (network.allow)."],
  "private-address": ["403 Forbidden", "The name leads to an address that is not public."],
  unresolvable: ["502 Bad Gateway", "The name cannot be resolved."],
  unreachable: ["502 Bad Gateway", "The host cannot be reached."],
} satisfies Record<RefusalReason, readonly [status: string, sentence: string]>;

/** Creates the proxy of one sandbox. It has no listening socket of its own. */
export function createNetworkProxy(options: ProxyOptions): NetworkProxy {
  const { maxConnections = MAX_CONNECTIONS } = options;
  const sockets = new Set<Socket>();
  const servers = new Set<Server>();
  let isClosed = false;

  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    // An error is followed by "close", which ends the connection.
    socket.on("error", () => {});
  };
  const accept = (client: Socket) => {
    if (isClosed) {
      client.destroy();
      return;
    }
    track(client);
    // Each tunnel has two sockets.
    if (sockets.size > 2 * maxConnections) refuse(client, "too-many", options);
    else void serveClient(client, options, track);
  };

  return {
    attach(listener) {
      const server = createServer({ allowHalfOpen: true, noDelay: true }, accept);
      servers.add(server);
      server.on("error", () => {});
      server.listen(listener);
    },
    async close() {
      isClosed = true;
      for (const socket of sockets) socket.destroy();
      await Promise.all(
        [...servers].map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
      );
    },
  };
}

/** Settles when the client's request has been answered or its connection has ended; never rejects. */
async function serveClient(
  client: Socket,
  options: ProxyOptions,
  track: (socket: Socket) => void,
): Promise<void> {
  const head = await readHead(client, options.headTimeoutMs ?? HEAD_TIMEOUT_MS);
  if (head === "closed") return;
  if (head === "too-large" || head === "too-slow") return refuse(client, head, options);
  const parsed = parseConnectHead(head);
  if (!parsed.ok) {
    return refuse(client, parsed.problem === "not-connect" ? "not-connect" : "malformed", options);
  }
  const { destination } = parsed;
  if (!options.rules.some((rule) => matchesNetworkRule(rule, destination))) {
    return refuse(client, "not-allowed", options, destination);
  }
  const addresses = await findAddresses(destination, options);
  if (typeof addresses === "string") return refuse(client, addresses, options, destination);
  const upstream = await connectToFirst(
    addresses,
    destination.port,
    options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    track,
  );
  if (upstream === undefined) return refuse(client, "unreachable", options, destination);
  joinSockets(client, upstream.socket, options, { destination, address: upstream.address });
}

/** Reads up to the empty line. Bytes after it remain unread, and belong to the tunnel. */
function readHead(client: Socket, timeoutMs: number): Promise<string | "closed" | "too-large" | "too-slow"> {
  return new Promise((resolve) => {
    let head = Buffer.alloc(0);
    const settle = (result: string) => {
      clearTimeout(timer);
      client.off("data", receive).off("end", end).off("close", end);
      client.pause();
      resolve(result);
    };
    const receive = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf(END_OF_HEAD);
      if (end > MAX_HEAD_BYTES || (end === -1 && head.length > MAX_HEAD_BYTES)) return settle("too-large");
      if (end === -1) return;
      const rest = head.subarray(end + END_OF_HEAD.length);
      settle(head.toString("latin1", 0, end));
      if (rest.length > 0) client.unshift(rest);
    };
    const end = () => settle("closed");
    const timer = setTimeout(() => settle("too-slow"), timeoutMs);
    client.on("data", receive).once("end", end).once("close", end);
  }).then((result) => {
    if (result === "closed") client.destroy();
    return result as string;
  });
}

/** Returns all addresses of a destination, if a connection to any of them is allowed. */
async function findAddresses(
  { host, port, isAddress }: Destination,
  { rules, resolve = resolveName }: ProxyOptions,
): Promise<readonly string[] | "private-address" | "unresolvable"> {
  // A rule with this address has allowed it.
  if (isAddress) return [host];
  const resolved = await resolve(host).catch(() => []);
  const addresses = resolved.map((address) => canonicalizeAddress(address));
  if (addresses.length === 0) return "unresolvable";
  const isAllowed = (address: string | undefined) =>
    address !== undefined &&
    ((!isPrivateAddress(address) && !isOwnAddress(address)) ||
      rules.some((rule) => matchesNetworkRule(rule, { host: address, port, isAddress: true })));
  // One private address among public ones is a sign of an attack, or of a name that is not meant for the public.
  return addresses.every(isAllowed) ? (addresses as string[]) : "private-address";
}

async function resolveName(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);
}

/** A service of this host may listen on a public address of it, and trust connections from there. */
function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((entries) =>
    entries?.some((entry) => canonicalizeAddress(entry.address) === address),
  );
}

async function connectToFirst(
  addresses: readonly string[],
  port: number,
  timeoutMs: number,
  track: (socket: Socket) => void,
): Promise<{ readonly socket: Socket; readonly address: string } | undefined> {
  for (const address of addresses) {
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true });
    track(socket);
    const isConnected = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => socket.destroy(), timeoutMs);
      const settle = (result: boolean) => {
        clearTimeout(timer);
        resolve(result);
      };
      socket.once("connect", () => settle(true)).once("close", () => settle(false));
    });
    if (isConnected) return { socket, address };
  }
  return undefined;
}

/** Copies both directions until both have ended. The end of one direction leaves the other open. */
function joinSockets(
  client: Socket,
  upstream: Socket,
  { onConnection, idleTimeoutMs = IDLE_TIMEOUT_MS }: ProxyOptions,
  { destination: { host, port }, address }: { destination: Destination; address: string },
): void {
  const destroyBoth = () => {
    client.destroy();
    upstream.destroy();
  };
  let open = 2;
  const end = () => {
    destroyBoth();
    open -= 1;
    if (open > 0) return;
    const bytesUp = upstream.bytesWritten;
    onConnection({ host, port, decision: "allowed", address, bytesUp, bytesDown: upstream.bytesRead });
  };
  for (const socket of [client, upstream]) {
    // "close" is past for a client that has gone while the connection was made.
    if (socket.closed) end();
    else socket.once("close", end);
    socket.setTimeout(idleTimeoutMs, destroyBoth);
  }
  client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  client.pipe(upstream);
  upstream.pipe(client);
}

function refuse(
  client: Socket,
  reason: RefusalReason,
  { onConnection }: ProxyOptions,
  destination?: Destination,
): void {
  const [status, sentence] = ANSWERS[reason];
  const named = destination === undefined ? {} : { host: destination.host, port: destination.port };
  onConnection({ ...named, decision: "refused", reason, bytesUp: 0, bytesDown: 0 });
  const body = `${sentence}\n`;
  client.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  // Unread bytes would make the system reset the connection before the program has read the answer.
  client.resume();
  setTimeout(() => client.destroy(), REFUSAL_LINGER_MS).unref();
}

/** The time for a program to read a refusal. */
const REFUSAL_LINGER_MS = 1_000;
