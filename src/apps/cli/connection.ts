import { loadProfile } from "../../client/connection/profile.ts";
import { connect, type Holdfast } from "../../client/index.ts";
import { DEFAULT_ADDRESS } from "../../config/connection-target.ts";
import { homeAt } from "../../config/home.ts";
import { isListening } from "../../devserver/health.ts";
import { readRecord } from "../../devserver/server-record.ts";
import type { Context } from "./context.ts";

/** The address that somebody named, by an option or in Temporal's own configuration. */
export function namedAddress({ options, streams }: Context): string | undefined {
  const named = options.address ?? loadProfile(options.profile, streams.env).connectionOptions.address;
  return named === "" ? undefined : named;
}

/** A server of this machine that listens: our home's own dev server first, it may be on another port. */
export async function localServer({ options }: Context): Promise<string | undefined> {
  const record = await readRecord(homeAt(options.home).server);
  for (const address of [record?.address, DEFAULT_ADDRESS]) {
    if (address === undefined) continue;
    const [host = "", port = ""] = address.split(":");
    if (await isListening(host, Number(port))) return address;
  }
  return undefined;
}

/** Connects to the named server, else to one of this machine. */
export async function connected(context: Context): Promise<Holdfast> {
  const address = namedAddress(context) === undefined ? await localServer(context) : undefined;
  return connect({ ...context.connectOptions(), ...(address === undefined ? {} : { address }) });
}

/** Gives a connection to one piece of work. */
export async function withHoldfast<T>(
  context: Context,
  work: (holdfast: Holdfast) => Promise<T>,
): Promise<T> {
  const holdfast = await connected(context);
  try {
    return await work(holdfast);
  } finally {
    await holdfast.close();
  }
}
