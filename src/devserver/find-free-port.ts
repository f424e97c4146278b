import { createServer } from "node:net";

/** Returns the preferred port if it is free, or else any free port. Another process may still take it first. */
export async function findFreePort(preferred: number, usedPorts: readonly number[] = []): Promise<number> {
  if (preferred !== 0 && !usedPorts.includes(preferred) && (await tryBind(preferred)) !== undefined)
    return preferred;
  for (;;) {
    const port = await tryBind(0);
    if (port === undefined) throw new Error("The system provides no free port on 127.0.0.1");
    if (!usedPorts.includes(port)) return port;
  }
}

function tryBind(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === "object" && address !== null ? address.port : undefined;
      server.close(() => resolve(bound));
    });
  });
}
