import { expect, test } from "vitest";
import { dropStack } from "../../src/devserver/spawn-server.ts";

test("the log of a server that did not start is shown without the stack behind its reason", () => {
  const log = [
    '{"level":"error","msg":"unable to start"}',
    "error: could not build arguments: listen tcp 127.0.0.1:1: bind: permission denied",
    "goroutine 1 [running]:",
    "go.temporal.io/server/temporal.NewServerFx({0x6054178, 0x3d67529e4de0}, {0x7, 0xc})",
    "\t/home/go/pkg/mod/go.temporal.io/server@v1.32.0/temporal/fx.go:165 +0x19e",
    "go.temporal.io/server/temporal.NewServer(...)",
    "\t/home/go/pkg/mod/go.temporal.io/server@v1.32.0/temporal/server.go:45",
  ];
  expect(dropStack(log.join("\n"))).toBe(log.slice(0, 3).join("\n"));
});
