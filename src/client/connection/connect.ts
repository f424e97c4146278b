import { Client, Connection } from "@temporalio/client";
import { type ConnectionTarget, resolveConnectionTarget } from "../../config/connection-target.ts";
import { getDatabaseUrl } from "../../config/database-url.ts";
import { resolveHome } from "../../config/home.ts";
import { EncryptionCodec } from "../../platform/encryption/encryption-codec.ts";
import { KeyError } from "../../platform/encryption/key-error.ts";
import {
  type Encryption,
  type EncryptionOptions,
  resolveEncryption,
} from "../../platform/encryption/resolve-encryption.ts";
import { RETRY_UNTIL_CLOSED } from "../../platform/retry-until-closed.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { StreamHub } from "../../store/stream/stream-hub.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { RunSettings } from "../../workflows/run-input.ts";
import { Holdfast } from "../holdfast.ts";
import { getErrorMessage, HoldfastError } from "../holdfast-error.ts";
import { readRedactionFromEnvironment } from "../runs/redact-content.ts";
import { Storage } from "../sessions/storage.ts";
import { checkClientEncryption, getClientTarget } from "./adopt-client.ts";
import { checkSameKeys } from "./check-same-keys.ts";
import { GRPC, getGrpcCode } from "./grpc-status.ts";
import { loadProfile } from "./load-profile.ts";
import { isProxied, probeAddress } from "./probe-address.ts";

/** Where `connect` finds Temporal, the transcript and the keys. */
export type ConnectOptions = {
  /**
   * A client that exists. It determines address and namespace, and `close()` leaves its connection open. With encryption, it
   * needs `plugins: [holdfastPlugin()]`.
   */
  readonly client?: Client;
  /** `host:port`. Default: the Temporal profile or `TEMPORAL_ADDRESS`, then `127.0.0.1:7233`. */
  readonly address?: string;
  /** Default: the profile or `TEMPORAL_NAMESPACE`, then `default`. */
  readonly namespace?: string;
  /** The queue that the workers poll; `holdfast` by default. */
  readonly taskQueue?: string;
  /** The folder of transcript and live output. Default: `HOLDFAST_HOME`, then `~/.holdfast`. */
  readonly home?: string;
  /**
   * The PostgreSQL database that stores both instead: `postgresql://user:password@host:5432/database`. Default:
   * `HOLDFAST_DATABASE_URL`; an empty string means none.
   */
  readonly database?: string;
  /** A profile of Temporal's own configuration file. Default: `TEMPORAL_PROFILE`, then `default`. */
  readonly profile?: string;
  /**
   * A transcript that the application has opened itself, instead of the one in `home` or `database`.
   *
   * @internal
   */
  readonly transcript?: Transcript;
  /**
   * The hub of live output that belongs to such a transcript.
   *
   * @internal
   */
  readonly hub?: StreamHub;
  /** Switch this off for servers where Holdfast's search attributes are not registered. */
  readonly searchAttributes?: boolean;
  /** Settings that the runs started through this connection change. */
  readonly settings?: Partial<RunSettings>;
  /** How long `connect` waits for the server, in milliseconds; 5,000 by default. */
  readonly connectTimeoutMs?: number;
  /** The data to encrypt, and the keys. Default: `HOLDFAST_ENCRYPTION_KEYS`; without keys, nothing is encrypted. */
  readonly encryption?: EncryptionOptions;
};

const CONNECT_TIMEOUT_MS = 5_000;

/** Connects to a Temporal server, and checks that it answers and has the namespace. */
export async function connect(options: ConnectOptions = {}): Promise<Holdfast> {
  const settings = { ...readRedactionFromEnvironment(), ...options.settings };
  const wanted = createEncryption(options.encryption);
  const { client, target, encryption } =
    options.client === undefined
      ? await openClient(options, wanted)
      : await adoptClient(options.client, options, wanted);
  const { transcript, hub } = options;
  return new Holdfast({
    client,
    connection: client.connection as Connection,
    ...(options.client === undefined ? {} : { keepsConnection: true }),
    address: target.address,
    namespace: target.namespace,
    taskQueue: target.taskQueue,
    storage: new Storage(
      resolveHome(options.home),
      { transcript, hub },
      getDatabaseUrl(options.database),
      options.encryption,
    ),
    searchAttributes: options.searchAttributes ?? settings.searchAttributes ?? true,
    settings,
    isEncrypted: encryption.payloads,
  });
}

type Connected = {
  readonly client: Client;
  readonly target: ConnectionTarget;
  /** What the client encrypts. */
  readonly encryption: Encryption;
};

async function adoptClient(client: Client, options: ConnectOptions, wanted: Encryption): Promise<Connected> {
  const target = getClientTarget(client, options);
  const encryption = checkClientEncryption(client, wanted);
  const connection = client.connection as Connection;
  await checkNamespace(connection, target, CONNECT_TIMEOUT_MS);
  await checkSameKeys(connection, target, encryption);
  return { client, target, encryption };
}

async function openClient(options: ConnectOptions, encryption: Encryption): Promise<Connected> {
  const { connectionOptions, namespace: fromProfile } = loadProfile(options.profile);
  const { address: profileAddress, tls, apiKey, metadata } = connectionOptions;
  const target = resolveConnectionTarget(options, { address: profileAddress, namespace: fromProfile });
  const timeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  if (!isProxied()) {
    const found = await probeAddress(target.address, timeoutMs);
    if (!found.ok) throw createUnreachableError(target, found.reason);
  }
  const connection = await Connection.connect({
    address: target.address,
    connectTimeout: timeoutMs,
    interceptors: RETRY_UNTIL_CLOSED,
    ...omitUndefined({ tls }),
    ...(apiKey === undefined ? {} : { apiKey: apiKey as string }),
    ...(metadata === undefined ? {} : { metadata: metadata as Record<string, string> }),
  }).catch((error: unknown) => {
    throw getGrpcCode(error) === GRPC.unauthenticated || getGrpcCode(error) === GRPC.permissionDenied
      ? createServerRefusedError(target, error)
      : createUnreachableError(target, getErrorMessage(error), error);
  });
  try {
    await checkNamespace(connection, target, timeoutMs);
    await checkSameKeys(connection, target, encryption);
  } catch (error) {
    await connection.close();
    throw error;
  }
  const dataConverter = { payloadCodecs: [new EncryptionCodec(encryption)] };
  return {
    client: new Client({ connection, namespace: target.namespace, dataConverter }),
    target,
    encryption,
  };
}

function createEncryption(options: EncryptionOptions | undefined): Encryption {
  try {
    return resolveEncryption(options);
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    throw new HoldfastError("configuration-invalid", error.message, { cause: error });
  }
}

async function checkNamespace(
  connection: Connection,
  target: ConnectionTarget,
  timeoutMs: number,
): Promise<void> {
  const { namespace, address } = target;
  try {
    await connection.withDeadline(Date.now() + timeoutMs, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } catch (error) {
    switch (getGrpcCode(error)) {
      // A caller without permission to describe the namespace may still use it.
      case GRPC.permissionDenied:
        return;
      case GRPC.notFound:
        throw await createNamespaceUnknownError(connection, target, error);
      case GRPC.unauthenticated:
        throw createServerRefusedError(target, error);
      default:
        throw createUnreachableError(
          target,
          `it accepts connections, but does not answer: ${getErrorMessage(error)}`,
          {
            cause: error,
            address,
          },
        );
    }
  }
}

async function createNamespaceUnknownError(
  connection: Connection,
  { address, namespace }: ConnectionTarget,
  cause: unknown,
): Promise<HoldfastError> {
  const namespaces = await connection.workflowService
    .listNamespaces({ pageSize: 100 })
    .then(({ namespaces }) => namespaces.map(({ namespaceInfo }) => namespaceInfo?.name ?? ""))
    .then((names) => names.filter((name) => name !== "" && name !== "temporal-system").sort())
    .catch(() => undefined);
  const hint =
    namespaces === undefined
      ? "It does not list its namespaces."
      : `It has: ${namespaces.join(", ") || "none"}.`;
  const command = `temporal operator namespace create --address ${address} --namespace ${namespace}`;
  return new HoldfastError(
    "namespace-unknown",
    `The Temporal server at ${address} has no namespace "${namespace}". ${hint} ` +
      `Specify one of these, or create it: ${command}`,
    { address, namespace, command, cause, ...omitUndefined({ namespaces }) },
  );
}

const ADDRESS_SOURCE_TEXT: Readonly<Record<ConnectionTarget["addressFrom"], string>> = {
  option: "as specified",
  profile: "from the Temporal profile or TEMPORAL_ADDRESS",
  default: "the default address",
};

function createUnreachableError(
  { address, addressFrom }: ConnectionTarget,
  reason: string,
  cause?: unknown,
): HoldfastError {
  return new HoldfastError(
    "unreachable",
    `No Temporal server can be reached at ${address} (${ADDRESS_SOURCE_TEXT[addressFrom]}): ${reason}. ` +
      "Start one on this machine with `holdfast dev`, or specify another with --address or TEMPORAL_ADDRESS.",
    { address, command: "holdfast dev", ...omitUndefined({ cause }) },
  );
}

function createServerRefusedError({ address, namespace }: ConnectionTarget, cause: unknown): HoldfastError {
  return new HoldfastError(
    "server-refused",
    `The Temporal server at ${address} refused the connection: ${getErrorMessage(cause)}. ` +
      "Check the API key or the certificate of the Temporal profile (TEMPORAL_API_KEY, TEMPORAL_TLS_*).",
    { address, namespace, cause },
  );
}
