// The HTTP server's library. The build replaces this module with a bundle (docs/decisions/0041-bundled-vendor-libraries.md).

export { getRequestListener, type HttpBindings } from "@hono/node-server";
export { type Context, Hono, type MiddlewareHandler } from "hono";
