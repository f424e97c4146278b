import type { Client, Connection } from "@temporalio/client";
import type { ConnectionTarget } from "../../config/connection-target.ts";
import { DEFAULT_TASK_QUEUE } from "../../config/home.ts";
import { EncryptionCodec } from "../../platform/encryption/encryption-codec.ts";
import { type Encryption, NO_ENCRYPTION } from "../../platform/encryption/resolve-encryption.ts";
import { canReadEachOther, getKeyNames, listKeyIds } from "../../platform/encryption/worker-keys.ts";
import { HoldfastError } from "../holdfast-error.ts";
import type { ConnectOptions } from "./connect.ts";

/** Options that an existing client determines. */
const CLIENT_OPTIONS = ["address", "namespace", "profile", "connectTimeoutMs"] as const;

/** Returns where an application's own client connects to. Rejects options that say something else. */
export function getClientTarget(client: Client, options: ConnectOptions): ConnectionTarget {
  const [conflicting] = CLIENT_OPTIONS.filter((name) => options[name] !== undefined);
  if (conflicting !== undefined) {
    throw new HoldfastError(
      "configuration-invalid",
      `connect() was given a client and the option ${conflicting}, which the client determines. Leave one of them out.`,
    );
  }
  const { options: known } = client.connection as Partial<Pick<Connection, "options">>;
  return {
    address: known?.address ?? "the client's address",
    addressFrom: "option",
    namespace: client.options.namespace,
    taskQueue: options.taskQueue || DEFAULT_TASK_QUEUE,
  };
}

/**
 * Returns what an application's client encrypts with. Rejects a client that would send plain text although payloads are to
 * be encrypted, or that has other keys.
 */
export function checkClientEncryption(client: Client, wanted: Encryption): Encryption {
  const codec = client.options.loadedDataConverter.payloadCodecs.find(
    (one): one is EncryptionCodec => one instanceof EncryptionCodec,
  );
  if (codec === undefined) {
    if (!wanted.payloads) return NO_ENCRYPTION;
    throw new HoldfastError(
      "configuration-invalid",
      "Payloads are to be encrypted, but the data converter of this client does not encrypt them. Create the client with " +
        "the plugin: new Client({ …, plugins: [holdfastPlugin()] }). If a codec of your own encrypts them, pass " +
        "`encryption: { keys, payloads: false }`.",
    );
  }
  const [ours, theirs] = [getKeyNames(wanted), getKeyNames(codec.encryption)];
  if (canReadEachOther(ours, theirs)) return codec.encryption;
  throw new HoldfastError(
    "key-mismatch",
    `This client encrypts with other keys than connect() was given: the client has ${listKeyIds(theirs)}, connect() has ` +
      `${listKeyIds(ours)}. Pass the same \`encryption\` to holdfastPlugin() and to connect().`,
  );
}
