import { expect, test } from "vitest";
import { toHoldfastError } from "../../src/client/client-errors.ts";
import type { ClientLink } from "../../src/client/connection/client-link.ts";
import { GRPC } from "../../src/client/connection/grpc-status.ts";

test("a cancelled request is reported as cancelled, not as rejected by the server", () => {
  const error = Object.assign(new Error("The connection was closed."), { code: GRPC.cancelled });
  const link = { address: "127.0.0.1:1", namespace: "default", taskQueue: "agents" } as ClientLink;
  expect(toHoldfastError(error, link, "s1").message).toBe(
    "The request to the Temporal server at 127.0.0.1:1 was cancelled before its answer: The connection was closed.",
  );
});
