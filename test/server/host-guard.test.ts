import { Hono } from "hono";
import { expect, test } from "vitest";
import { createHostGuard } from "../../src/apps/server/guards.ts";
import { ServerProblem } from "../../src/apps/server/problem.ts";

/** Sends a request with this Host header to a server on all addresses; no test may listen on those. */
async function request(host: string, allowHosts: readonly string[]): Promise<string> {
  const app = new Hono();
  app.use(createHostGuard({ host: "0.0.0.0", allowHosts, allowOrigins: [] }));
  app.get("/", (context) => context.text("served"));
  app.onError((error, context) => context.text(error instanceof ServerProblem ? error.code : `${error}`));
  const response = await app.request("http://127.0.0.1/", { headers: { host } });
  return await response.text();
}

test("a server on all addresses is reached under any name, until names are allowed", async () => {
  expect(await request("any.example:8787", [])).toBe("served");
  const names = ["agents.example.com"];
  expect(await request("any.example:8787", names)).toBe("host-not-allowed");
  expect(await request("0.0.0.0.evil.example", names)).toBe("host-not-allowed");
  for (const host of ["Agents.example.com:8787", "localhost:1", "0.0.0.0:8787"])
    expect(await request(host, names)).toBe("served");
});
