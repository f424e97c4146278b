import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import {
  type ConnectionReport,
  createNetworkProxy,
  type ProxyOptions,
} from "../../../src/platform/sandbox/network-proxy.ts";
import { parseConnectHead } from "../../../src/platform/sandbox/parse-connect-head.ts";
import { parseNetworkRule } from "../../../src/platform/text/network-rule.ts";
import { isThorough } from "../../support/test-depth.ts";
import { eventually } from "../../tools/processes.ts";

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function listen(
  onSocket: (socket: Socket) => void = () => {},
): Promise<{ server: Server; port: number }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    onSocket(socket);
  });
  open.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

type Started = {
  readonly port: number;
  readonly reports: ConnectionReport[];
  readonly resolved: string[];
  /** Sends bytes, and returns all that comes back until the connection ends. */
  readonly ask: (bytes: string) => Promise<string>;
  readonly close: () => Promise<void>;
};

async function startProxy(
  rules: readonly string[],
  names: Readonly<Record<string, readonly string[]>> = {},
  options: Partial<ProxyOptions> = {},
): Promise<Started> {
  const reports: ConnectionReport[] = [];
  const resolved: string[] = [];
  const proxy = createNetworkProxy({
    rules: rules.map((rule) => parseNetworkRule(rule)!),
    onConnection: (report) => reports.push(report),
    resolve: async (name) => {
      resolved.push(name);
      return names[name] ?? [];
    },
    ...options,
  });
  const { server, port } = await listen();
  proxy.attach(server);
  onTestFinished(proxy.close);
  const ask = async (bytes: string) => {
    const socket = connect({ port, host: "127.0.0.1" });
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
    });
    socket.on("error", () => {});
    socket.write(bytes, "latin1");
    await once(socket, "close");
    return answer;
  };
  return { port, reports, resolved, ask, close: proxy.close };
}

const connectTo = (authority: string, headers = `Host: ${authority}\r\n`) =>
  `CONNECT ${authority} HTTP/1.1\r\n${headers}\r\n`;

const ESTABLISHED = "HTTP/1.1 200 Connection Established\r\n\r\n";

describe("a tunnel to an allowed host", () => {
  test("carries bytes both ways, and is reported when it ends", async () => {
    const { port } = await listen((socket) => {
      socket.on("data", (chunk) => socket.end(`got ${chunk}`));
    });
    const proxy = await startProxy([`allowed.test:${port}`, `127.0.0.1:${port}`], {
      "allowed.test": ["127.0.0.1"],
    });
    const socket = connect({ port: proxy.port, host: "127.0.0.1" });
    socket.write(connectTo(`Allowed.Test.:${port}`));
    const [answer] = await once(socket, "data");
    expect(String(answer)).toBe(ESTABLISHED);
    socket.write("hello");
    const [reply] = await once(socket, "data");
    expect(String(reply)).toBe("got hello");
    await once(socket, "close");
    await eventually(
      () => proxy.reports,
      (reports) => reports.length === 1,
    );
    expect(proxy.reports).toEqual([
      { host: "allowed.test", port, decision: "allowed", address: "127.0.0.1", bytesUp: 5, bytesDown: 9 },
    ]);
  });

  test("stays open in one direction after the other has ended", async () => {
    const { port } = await listen((socket) => {
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk;
      });
      socket.on("end", () => setTimeout(() => socket.end(`all of ${text}`), 20));
    });
    const proxy = await startProxy([`127.0.0.1:${port}`]);
    const socket = connect({ port: proxy.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.write(connectTo(`127.0.0.1:${port}`));
    await once(socket, "data");
    socket.end("question");
    const [reply] = await once(socket, "data");
    expect(String(reply)).toBe("all of question");
  });

  test("ends with the other side, when that one breaks off", async () => {
    const { port } = await listen((socket) => {
      socket.on("data", () => socket.resetAndDestroy());
    });
    const proxy = await startProxy([`127.0.0.1:${port}`]);
    expect(await proxy.ask(`${connectTo(`127.0.0.1:${port}`)}x`)).toBe(ESTABLISHED);
    await eventually(
      () => proxy.reports,
      (reports) => reports.length === 1,
    );
  });

  test("is closed when it is idle, and with the proxy", async () => {
    const { port } = await listen();
    const idle = await startProxy([`127.0.0.1:${port}`], {}, { idleTimeoutMs: 50 });
    expect(await idle.ask(connectTo(`127.0.0.1:${port}`))).toBe(ESTABLISHED);
    const closed = await startProxy([`127.0.0.1:${port}`]);
    const asked = closed.ask(connectTo(`127.0.0.1:${port}`));
    await delay(50);
    await closed.close();
    expect(await asked).toBe(ESTABLISHED);
    await expect(once(connect({ port: closed.port, host: "127.0.0.1" }), "connect")).rejects.toThrow(
      /ECONNREFUSED/,
    );
  });

  test("uses the next address if one cannot be reached", async () => {
    const { port } = await listen((socket) => socket.end("here"));
    const proxy = await startProxy([`two.test:${port}`, `127.0.0.1:${port}`, `127.0.0.2:${port}`], {
      "two.test": ["127.0.0.2", "127.0.0.1"],
    });
    expect(await proxy.ask(connectTo(`two.test:${port}`))).toBe(`${ESTABLISHED}here`);
  });
});

describe("a host is refused", () => {
  test("if no rule names it, without looking it up", async () => {
    const proxy = await startProxy(["allowed.test:443", "*.wide.test:443"]);
    for (const authority of [
      "other.test:443",
      "allowed.test:80",
      "wide.test:443",
      "8.8.8.8:443",
      "127.0.0.1:443",
    ]) {
      expect(await proxy.ask(connectTo(authority))).toMatch(/^HTTP\/1\.1 403 /);
    }
    expect(proxy.resolved).toEqual([]);
    expect(proxy.reports.map(({ reason }) => reason)).toEqual(Array(5).fill("not-allowed"));
    expect(proxy.reports[0]).toEqual({
      host: "other.test",
      port: 443,
      decision: "refused",
      reason: "not-allowed",
      bytesUp: 0,
      bytesDown: 0,
    });
  });

  test.each([
    "127.0.0.1",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "0.0.0.0",
    "::",
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "fd00:ec2::254",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "fe80::1",
    "fe80::1%eth0",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "not an address",
  ])("if its name leads to %s", async (address) => {
    const proxy = await startProxy(["allowed.test:443"], { "allowed.test": [address] });
    expect(await proxy.ask(connectTo("allowed.test:443"))).toMatch(/^HTTP\/1\.1 403 /);
    expect(proxy.reports).toMatchObject([{ reason: "private-address" }]);
  });

  test("if one of its addresses is private", async () => {
    const proxy = await startProxy(["allowed.test:443"], { "allowed.test": ["8.8.8.8", "10.0.0.1"] });
    expect(await proxy.ask(connectTo("allowed.test:443"))).toMatch(/^HTTP\/1\.1 403 /);
  });

  test("if a rule allows its private address for another port only", async () => {
    const proxy = await startProxy(["allowed.test:443", "127.0.0.1:80"], { "allowed.test": ["127.0.0.1"] });
    expect(await proxy.ask(connectTo("allowed.test:443"))).toMatch(/^HTTP\/1\.1 403 /);
  });

  test("if it cannot be resolved or reached", async () => {
    const { server, port } = await listen();
    server.close();
    const proxy = await startProxy(["absent.test:443", `127.0.0.1:${port}`]);
    expect(await proxy.ask(connectTo("absent.test:443"))).toMatch(/^HTTP\/1\.1 502 /);
    expect(await proxy.ask(connectTo(`127.0.0.1:${port}`))).toMatch(/^HTTP\/1\.1 502 /);
    expect(proxy.reports.map(({ reason }) => reason)).toEqual(["unresolvable", "unreachable"]);
  });
});

test("a name is resolved once, so an answer that changes afterwards is not used", async () => {
  const { port } = await listen((socket) => socket.end("first"));
  const answers = [["127.0.0.1"], ["169.254.169.254"]];
  let lookups = 0;
  const proxy = await startProxy(
    [`rebinding.test:${port}`, `127.0.0.1:${port}`],
    {},
    {
      resolve: async () => {
        lookups += 1;
        return answers.shift() ?? [];
      },
    },
  );
  expect(await proxy.ask(connectTo(`rebinding.test:${port}`))).toBe(`${ESTABLISHED}first`);
  expect(lookups).toBe(1);
  expect(await proxy.ask(connectTo(`rebinding.test:${port}`))).toMatch(/^HTTP\/1\.1 403 /);
});

describe("a request", () => {
  test.each([
    [
      "a plain proxy request",
      "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
      405,
      "not-connect",
    ],
    ["a request for the proxy itself", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 405, "not-connect"],
    ["no HTTP", "\x16\x03\x01\r\n\r\n", 400, "malformed"],
    ["SOCKS", "\x05\x01\x00\r\n\r\n", 400, "malformed"],
    ["another host in its field", connectTo("allowed.test:443", "Host: other.test\r\n"), 400, "malformed"],
    [
      "two hosts",
      connectTo("allowed.test:443", "Host: allowed.test\r\nHost: allowed.test\r\n"),
      400,
      "malformed",
    ],
    ["a body", connectTo("allowed.test:443", "Content-Length: 5\r\n"), 400, "malformed"],
    ["a body in chunks", connectTo("allowed.test:443", "Transfer-Encoding: chunked\r\n"), 400, "malformed"],
    ["a folded field", connectTo("allowed.test:443", "A: b\r\n c: d\r\n"), 400, "malformed"],
    ["a space before the colon", connectTo("allowed.test:443", "Host : allowed.test\r\n"), 400, "malformed"],
    ["a bare line feed", connectTo("allowed.test:443", "A: b\nHost: other.test\r\n"), 400, "malformed"],
    ["a NUL character", connectTo("allowed.test:443", "A: \0\r\n"), 400, "malformed"],
    ["two spaces", "CONNECT  allowed.test:443 HTTP/1.1\r\n\r\n", 400, "malformed"],
    ["HTTP/2", "CONNECT allowed.test:443 HTTP/2\r\n\r\n", 400, "malformed"],
    ["a user", "CONNECT other@allowed.test:443 HTTP/1.1\r\n\r\n", 400, "malformed"],
    ["too many bytes", connectTo("allowed.test:443", `A: ${"b".repeat(9000)}\r\n`), 431, "too-large"],
    ["no end", "A".repeat(9000), 431, "too-large"],
  ])("with %s is refused", async (_, bytes, status, reason) => {
    const proxy = await startProxy(["allowed.test:443"], { "allowed.test": ["127.0.0.1"] });
    expect(await proxy.ask(bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(proxy.reports).toMatchObject([{ decision: "refused", reason }]);
    expect(proxy.resolved).toEqual([]);
  });

  test("that arrives too slowly is refused", async () => {
    const proxy = await startProxy(["allowed.test:443"], {}, { headTimeoutMs: 50 });
    const socket = connect({ port: proxy.port, host: "127.0.0.1" });
    const timer = setInterval(() => socket.write("C"), 10);
    onTestFinished(() => clearInterval(timer));
    socket.on("error", () => {});
    const [answer] = await once(socket, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 408 /);
    expect(proxy.reports).toMatchObject([{ reason: "too-slow" }]);
  });

  test("that ends before it is complete is not answered", async () => {
    const proxy = await startProxy(["allowed.test:443"]);
    const socket = connect({ port: proxy.port, host: "127.0.0.1" });
    socket.end("CONNECT allowed.test:443 HTTP/1.1\r\n");
    socket.resume();
    await once(socket, "close");
    expect(proxy.reports).toEqual([]);
  });

  test("in a tunnel is content of the tunnel, however early it arrives", async () => {
    let seen = "";
    const { port } = await listen((socket) => {
      socket.on("data", (chunk) => {
        seen += chunk;
        socket.end("answer of the host");
      });
    });
    const proxy = await startProxy([`allowed.test:${port}`, `127.0.0.1:${port}`], {
      "allowed.test": ["127.0.0.1"],
    });
    const second = connectTo("other.test:443");
    expect(await proxy.ask(connectTo(`allowed.test:${port}`) + second)).toBe(
      `${ESTABLISHED}answer of the host`,
    );
    expect(seen).toBe(second);
    expect(proxy.resolved).toEqual(["allowed.test"]);
  });

  test("from another program in the sandbox that forwards is judged like any other", async () => {
    const proxy = await startProxy(["allowed.test:443"], { "allowed.test": ["8.8.8.8"] });
    const { port } = await listen((socket) => {
      const forwarded = connect({ port: proxy.port, host: "127.0.0.1" });
      socket.pipe(forwarded).pipe(socket);
    });
    const socket = connect({ port, host: "127.0.0.1" });
    socket.write(connectTo("other.test:443"));
    const [answer] = await once(socket, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 403 /);
  });

  test("that is refused is read to its end, so that a program which first writes everything reads why", async () => {
    const proxy = await startProxy(["allowed.test:443"]);
    const socket = connect({ port: proxy.port, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.write(connectTo("other.test:443"));
    // More than the system buffers.
    await new Promise((resolve) => socket.write(Buffer.alloc(16 * 1024 * 1024), resolve));
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
    });
    await once(socket, "close");
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  });

  test("more connections than the limit are refused", async () => {
    const proxy = await startProxy(["allowed.test:443"], {}, { maxConnections: 2 });
    const waiting = Array.from({ length: 4 }, () => connect({ port: proxy.port, host: "127.0.0.1" }));
    await Promise.all(waiting.map((socket) => once(socket, "connect")));
    expect(await proxy.ask("")).toMatch(/^HTTP\/1\.1 503 /);
    for (const socket of waiting) socket.destroy();
  });
});

/** A generator of numbers with a seed, so that a failure can be repeated (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

describe("10,000 requests for a forbidden host that also name an allowed one", () => {
  const PIECES = [
    "\r\n",
    "\n",
    "\r",
    "\r\n\r\n",
    "\0",
    " ",
    "\t",
    "@",
    "#",
    "?",
    "/",
    "\\",
    ":",
    ":443",
    "%0d%0a",
    "%00",
    "..",
    "[",
    "]",
    "Host: allowed.test\r\n",
    "CONNECT allowed.test:443 HTTP/1.1\r\n",
    "allowed.test",
    "allowed.test:443",
    "http://",
    "Content-Length: 0\r\n",
    "Transfer-Encoding: chunked\r\n",
    "HTTP/1.1",
    "HTTP/1.0",
    " HTTP/1.1\r\n",
    "\u00e9",
    "\xff",
    "xn--",
  ];
  const BASES = [
    "CONNECT forbidden.test:443 HTTP/1.1\r\nHost: allowed.test:443\r\n\r\n",
    "CONNECT forbidden.test:443 HTTP/1.1\r\nHost: forbidden.test:443\r\n\r\n",
    "CONNECT allowed.test@forbidden.test:443 HTTP/1.1\r\n\r\n",
    "CONNECT forbidden.test:443#allowed.test:443 HTTP/1.1\r\n\r\n",
    "GET http://forbidden.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
    "CONNECT allowed.test.forbidden.test:443 HTTP/1.1\r\n\r\n",
  ];

  function* mutate(count: number): Generator<string> {
    const random = createRandom(20_261_127);
    for (let made = 0; made < count; made += 1) {
      let text = BASES[random(BASES.length)]!;
      for (let change = random(5); change >= 0; change -= 1) {
        const [one, other] = [random(text.length + 1), random(text.length + 1)];
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const kind = random(4);
        if (kind === 0) text = text.slice(0, from) + text.slice(from + 1 + random(4));
        else if (kind === 1) text = text.slice(0, to) + text.slice(from, to) + text.slice(to);
        else text = text.slice(0, from) + PIECES[random(PIECES.length)]! + text.slice(from);
      }
      yield text;
    }
  }

  /** What the first line says, by the only form that may lead anywhere. */
  const meansAllowed = (text: string) => /^CONNECT allowed\.test\.?:443 HTTP\/1\.[01]\r\n/i.test(text);

  test("none is taken for a request for another host than its first line names", () => {
    let taken = 0;
    for (const text of mutate(10_000)) {
      const end = text.indexOf("\r\n\r\n");
      if (end === -1) continue;
      const parsed = parseConnectHead(text.slice(0, end));
      if (!parsed.ok) continue;
      const [, host] = /^CONNECT ([^ ]+):[0-9]+ HTTP\/1\.[01](?:\r\n|$)/.exec(text) ?? [];
      expect(parsed.destination.host).toBe(host?.toLowerCase().replace(/\.$/, ""));
      taken += 1;
    }
    expect(taken).toBeGreaterThan(100);
  });

  test("none leads anywhere", async () => {
    const looked: string[] = [];
    const proxy = await startProxy(
      ["allowed.test:443"],
      {},
      {
        headTimeoutMs: 200,
        resolve: async (name) => {
          looked.push(name);
          return [];
        },
      },
    );
    const texts = [...mutate(isThorough ? 10_000 : 500)];
    const workers = Array.from({ length: 16 }, async () => {
      for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
        const before = looked.length;
        const answer = await proxy.ask(text === "" ? "x" : text);
        expect(answer).not.toContain("200 Connection");
        if (!meansAllowed(text) && answer.includes(" 502 ")) expect([text, before]).toEqual([]);
      }
    });
    await Promise.all(workers);
    expect(looked.filter((name) => name !== "allowed.test")).toEqual([]);
  });
});
