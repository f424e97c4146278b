import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";

export type Env = { Bindings: HttpBindings };

/** What was asked for, for the words of a problem. */
export function describeTarget({ req }: Context): string {
  return `${req.method} ${req.path}`;
}

/** Takes the connection of a request away. */
export function createDrop(context: Context<Env>): () => void {
  const { outgoing } = context.env;
  return () => void outgoing.destroy();
}
