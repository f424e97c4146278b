import { connect, createServer } from "node:net";

/** Stands between a client and a server on loopback; the target can be changed, and the traffic stalled. */
export async function startProxy(stage, targetPort) {
  const pairs = new Set();
  let target = targetPort;
  let isStalled = false;
  const waiting = new Map();
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    const pair = [client, upstream];
    pairs.add(pair);
    for (const socket of pair) {
      socket.on("error", () => {});
      socket.on("close", () => {
        pairs.delete(pair);
        for (const one of pair) one.destroy();
      });
    }
    client.on("data", (bytes) => {
      upstream.write(bytes);
      for (const [words, found] of waiting)
        if (bytes.includes(words)) {
          waiting.delete(words);
          found();
        }
    });
    upstream.on("data", (bytes) => void client.write(bytes));
    if (isStalled) for (const socket of pair) socket.pause();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  stage.onEnd(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        cut();
      }),
  );
  return {
    port,
    address: `127.0.0.1:${port}`,
    /** From now on nothing arrives on either side; nobody is told. */
    stall: () => {
      isStalled = true;
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    flow: () => {
      isStalled = false;
      for (const pair of pairs) for (const socket of pair) socket.resume();
    },
    cut,
    /** Resolves when a client next says these words. */
    hears: (words) => new Promise((found) => waiting.set(words, found)),
    retarget: (next) => {
      target = next;
      cut();
    },
  };
}
