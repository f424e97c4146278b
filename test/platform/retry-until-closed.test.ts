import { type AddressInfo, createServer } from "node:net";
import { Connection } from "@temporalio/client";
import { expect, test } from "vitest";
import { RETRY_UNTIL_CLOSED } from "../../src/platform/retry-until-closed.ts";
import { eventually } from "../support/eventually.ts";

/** Opens a connection to a port where a listener hangs up on every client, and counts them. */
async function connectToNobody() {
  let hungUp = 0;
  const listener = createServer((socket) => {
    hungUp += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  const connection = Connection.lazy({ address: `127.0.0.1:${port}`, interceptors: RETRY_UNTIL_CLOSED });
  return { connection, listener, countHungUp: () => hungUp };
}

test("a call that waits for its next attempt ends when the connection is closed, and the process goes on", async () => {
  const { connection, listener, countHungUp } = await connectToNobody();
  const ended = connection.workflowService.getSystemInfo({}).catch((error: Error) => error);
  await eventually(() => countHungUp() > 0, { what: "the end of the first attempt" });
  await connection.close();
  // Without the interceptor, the error of a timer would fail this run.
  expect(await ended).toMatchObject({ code: 1, details: "The connection was closed." });
  listener.close();
});
