// The shop: a server with orders, which makes one refund for each idempotency key.
import { createServer } from "node:http";

const ORDERS = {
  "A-1042": { order: "A-1042", item: "Desk lamp, brass", cents: 8400, delivered: "2026-10-02" },
};

/** @returns The server's address, its refunds, and a function that stops it. */
export async function startShop(token) {
  const refunds = new Map();
  const server = createServer(async (request, response) => {
    const say = (status, value) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (request.headers.authorization !== `Bearer ${token}`)
      return say(401, { error: "the bearer token is missing or wrong" });
    const [, name, refunding] = /^\/v1\/orders\/([^/]+)(\/refunds)?$/.exec(request.url) ?? [];
    const order = ORDERS[name];
    if (order === undefined) return say(404, { error: "the order does not exist" });
    if (request.method === "GET" && refunding === undefined) return say(200, order);
    if (request.method !== "POST" || refunding === undefined)
      return say(405, { error: "the method is not allowed" });
    let text = "";
    for await (const piece of request) text += piece;
    const { cents, reason } = JSON.parse(text);
    if (!(cents > 0 && cents <= order.cents)) return say(422, { error: `1 to ${order.cents} cents` });
    const key = request.headers["idempotency-key"] ?? crypto.randomUUID();
    if (!refunds.has(key)) refunds.set(key, { order: name, cents, reason });
    return say(201, refunds.get(key));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    refunds: () => [...refunds.values()],
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
