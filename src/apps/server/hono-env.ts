import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";

export type Env = { Bindings: HttpBindings };

/** Formats the request for the text of a problem. */
export function describeTarget({ req }: Context): string {
  return `${req.method} ${req.path}`;
}

/** Returns a function that closes the connection of a request. */
export function createDrop(context: Context<Env>): () => void {
  const { outgoing } = context.env;
  return () => void outgoing.destroy();
}
