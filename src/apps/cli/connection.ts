import { connect } from "../../client/connection/connect.ts";
import { loadProfile } from "../../client/connection/load-profile.ts";
import type { Holdfast } from "../../client/index.ts";
import { DEFAULT_ADDRESS } from "../../config/connection-target.ts";
import { resolveHome } from "../../config/home.ts";
import { isListening } from "../../devserver/server-readiness.ts";
import { readRecord } from "../../devserver/server-record.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Context } from "./context.ts";

/** Returns the address given by an option or by Temporal's own configuration. */
export function getConfiguredAddress({ options, streams }: Context): string | undefined {
  const address = options.address ?? loadProfile(options.profile, streams.env).connectionOptions.address;
  return address === "" ? undefined : address;
}

/** Finds a listening server on this machine: first the home's dev server, which may have another port. */
export async function findLocalServer({ options }: Context): Promise<string | undefined> {
  const record = await readRecord(resolveHome(options.home).server);
  for (const address of [record?.address, DEFAULT_ADDRESS]) {
    if (address === undefined) continue;
    const [host = "", port = ""] = address.split(":");
    if (await isListening(host, Number(port))) return address;
  }
  return undefined;
}

/** Connects to the configured server, or else to one on this machine. */
export async function connectToServer(context: Context): Promise<Holdfast> {
  const address = getConfiguredAddress(context) === undefined ? await findLocalServer(context) : undefined;
  return connect({ ...context.connectOptions(), ...omitUndefined({ address }) });
}

/** Runs the work with a connection, and closes the connection afterwards. */
export async function withHoldfast<T>(
  context: Context,
  work: (holdfast: Holdfast) => Promise<T>,
): Promise<T> {
  const holdfast = await connectToServer(context);
  try {
    return await work(holdfast);
  } finally {
    await holdfast.close();
  }
}
