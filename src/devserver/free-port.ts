import { createServer } from "node:net";

/** The usual port when it is free, otherwise one the system gives. Another process may still take it first. */
export async function freePort(usual: number, taken: readonly number[] = []): Promise<number> {
  if (usual !== 0 && !taken.includes(usual) && (await bind(usual)) !== undefined) return usual;
  for (;;) {
    const port = await bind(0);
    if (port === undefined) throw new Error("The system gives no free port on 127.0.0.1");
    if (!taken.includes(port)) return port;
  }
}

function bind(port: number): Promise<number | undefined> {
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
