import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";

/** Stands between a worker and Temporal, so that a test decides what reaches Temporal. */
export type StallingProxy = {
  readonly address: string;
  /** The worker's messages no longer arrive from here on; the worker does not notice. */
  stall(): void;
  resume(): void;
  close(): Promise<void>;
};

export async function startProxy(target: string): Promise<StallingProxy> {
  const [host = "127.0.0.1", port] = target.split(":");
  const sockets = new Set<Socket>();
  const workers = new Set<Socket>();
  let stalled = false;
  const server = createServer((worker) => {
    const temporal = connect(Number(port), host);
    for (const socket of [worker, temporal]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        worker.destroy();
        temporal.destroy();
      });
    }
    workers.add(worker);
    worker.on("data", (chunk) => void temporal.write(chunk));
    temporal.on("data", (chunk) => void worker.write(chunk));
    if (stalled) worker.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stall: () => {
      stalled = true;
      for (const worker of workers) worker.pause();
    },
    resume: () => {
      stalled = false;
      for (const worker of workers) worker.resume();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
