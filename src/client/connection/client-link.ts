import type { Client, Connection } from "@temporalio/client";
import type { RunSettings } from "../../workflows/run-input.ts";
import type { Storage } from "../sessions/storage.ts";

/** An open connection and what every verb needs to know of it. */
export type ClientLink = {
  readonly client: Client;
  readonly connection: Connection;
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly storage: Storage;
  /** Runs set search attributes, and what lists sessions reads them. */
  readonly searchAttributes: boolean;
  readonly settings: Partial<RunSettings>;
  /** What is sent is sealed. */
  readonly sealed?: boolean;
};

/** How long a worker may take to answer a question or to take a message. */
export const ANSWER_TIMEOUT_MS = 10_000;
