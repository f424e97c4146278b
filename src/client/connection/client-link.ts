import type { Client, Connection } from "@temporalio/client";
import type { RunSettings } from "../../workflows/run-input.ts";
import type { Storage } from "../sessions/storage.ts";

/** An open connection, with what every function of the client needs. */
export type ClientLink = {
  readonly client: Client;
  readonly connection: Connection;
  /** The connection is the application's own, and stays open. */
  readonly keepsConnection?: boolean;
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly storage: Storage;
  /** Whether runs set search attributes, and lists read them. */
  readonly searchAttributes: boolean;
  readonly settings: Partial<RunSettings>;
  /** Whether sent payloads are encrypted. */
  readonly isEncrypted?: boolean;
};

/** How long a worker may take to answer a query or accept an update. */
export const ANSWER_TIMEOUT_MS = 10_000;
