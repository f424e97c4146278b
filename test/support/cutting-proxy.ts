import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** What happens to bytes of a client: they pass, or the connection is cut before or after them. */
export type ProxyDecision = "pass" | "cut" | "pass-and-cut";

/** A proxy between a client and its server, which can cut connections. */
export type CuttingProxy = {
  readonly port: number;
  /** Sets the target of new connections, as a failover moves an address; undefined refuses them. */
  targetPort: number | undefined;
  /** Closes the open connections on both sides. */
  cutAll(): void;
  /** Called for all bytes of clients; `pass` by default. */
  judge: (said: Buffer) => ProxyDecision;
  /** Returns the number of connections that were cut. */
  readonly cuts: number;
  close(): Promise<void>;
};

export async function startCuttingProxy(firstTarget: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let cuts = 0;
  const server = createServer((client) => {
    if (proxy.targetPort === undefined) {
      client.destroy();
      return;
    }
    const target = connect(proxy.targetPort, "127.0.0.1");
    const both = [client, target];
    for (const socket of both) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        for (const one of both) one.destroy();
        sockets.delete(socket);
      });
    }
    let deaf = false;
    client.on("data", (bytes) => {
      const verdict = proxy.judge(bytes);
      if (verdict !== "pass") cuts += 1;
      if (verdict === "cut") client.destroy();
      if (verdict === "pass") target.write(bytes);
      if (verdict === "pass-and-cut") {
        deaf = true;
        target.write(bytes);
      }
    });
    // The server has executed the request, but its answer is lost.
    target.on("data", (answer) => {
      if (deaf) client.destroy();
      else client.write(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy = {
    port: (server.address() as AddressInfo).port,
    targetPort: firstTarget,
    cutAll,
    judge: (): ProxyDecision => "pass",
    get cuts() {
      return cuts;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        cutAll();
      }),
  } as CuttingProxy;
  return proxy;
}

/** Returns a decision function that cuts only the first connection that sends the marker. */
export function cutOnce(marker: string, verdict: ProxyDecision): (bytes: Buffer) => ProxyDecision {
  let done = false;
  return (bytes) => {
    if (done || !bytes.includes(marker)) return "pass";
    done = true;
    return verdict;
  };
}
