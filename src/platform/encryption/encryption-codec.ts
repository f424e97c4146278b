import type { Payload, PayloadCodec, SerializationContext } from "@temporalio/common";
import { KeyError } from "./key-error.ts";
import { createMissingKeyError, type KeyRing } from "./key-ring.ts";
import type { Encryption } from "./resolve-encryption.ts";

/** The metadata key that marks an encrypted payload in Temporal's own examples and tools. */
const ENCODING = "encoding";
const ENCRYPTED = "binary/encrypted";
const KEY_ID = "encryption-key-id";
/** The metadata key with the id of the workflow that a payload belongs to. */
const ENCRYPTED_FOR = "encrypted-for";
/** The metadata key of decrypted payloads. It makes the workflow encrypt its failures too. */
const WAS_ENCRYPTED = "was-encrypted";

/** The suffix that a schedule adds to its workflow id. */
const SCHEDULE_SUFFIX = /^-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/**
 * Encrypts and decrypts the data that Temporal stores. A payload can be decrypted only for the workflow that it belongs
 * to, if the workflow is known; a codec server does not know it.
 */
export class EncryptionCodec implements PayloadCodec {
  readonly encryption: Encryption;
  readonly #ring: KeyRing | undefined;
  readonly #encrypts: boolean;

  constructor(encryption: Encryption) {
    this.encryption = encryption;
    this.#ring = encryption.ring;
    this.#encrypts = encryption.payloads;
  }

  async encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    const ring = this.#ring;
    if (ring?.writeKeyId === undefined || !this.#encrypts) return payloads;
    return payloads.map((payload) => encryptPayload(ring, payload, context?.workflowId));
  }

  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return payloads.map((payload) =>
      getMetadataText(payload, ENCODING) === ENCRYPTED
        ? this.#decryptPayload(payload, context?.workflowId)
        : payload,
    );
  }

  #decryptPayload(payload: Payload, workflow: string | undefined): Payload {
    const keyId = getMetadataText(payload, KEY_ID);
    if (keyId === undefined) {
      throw new KeyError("mismatch", "A payload was encrypted by a codec other than Holdfast's.");
    }
    const ring = this.#ring;
    if (ring === undefined) throw createMissingKeyError(keyId, []);
    const encryptedFor = getMetadataText(payload, ENCRYPTED_FOR);
    if (encryptedFor !== undefined && workflow !== undefined && !isSameWorkflow(encryptedFor, workflow)) {
      throw new KeyError(
        "mismatch",
        `A payload of workflow ${workflow} was encrypted for workflow ${encryptedFor}: it was moved.`,
        keyId,
      );
    }
    const { metadata = {}, data } = unpackPayload(
      ring.decrypt("payload", payload.data ?? EMPTY_DATA, encryptedFor ?? ""),
    );
    return { metadata: { ...metadata, [WAS_ENCRYPTED]: toBytes(keyId) }, data: data ?? EMPTY_DATA };
  }
}

const EMPTY_DATA = new Uint8Array();

function encryptPayload(ring: KeyRing, payload: Payload, workflow: string | undefined): Payload {
  return {
    metadata: {
      [ENCODING]: toBytes(ENCRYPTED),
      [KEY_ID]: toBytes(ring.writeKeyId ?? ""),
      ...(workflow === undefined ? {} : { [ENCRYPTED_FOR]: toBytes(workflow) }),
    },
    data: ring.encrypt("payload", packPayload(payload), workflow ?? ""),
  };
}

function isSameWorkflow(encryptedFor: string, workflow: string): boolean {
  if (encryptedFor === workflow) return true;
  return workflow.startsWith(encryptedFor) && SCHEDULE_SUFFIX.test(workflow.slice(encryptedFor.length));
}

/** Packs a payload: the length of the metadata, the metadata as JSON, the data. */
function packPayload({ metadata, data }: Payload): Buffer {
  const metadataJson = Object.entries(metadata ?? {})
    .filter(([name]) => name !== WAS_ENCRYPTED)
    .map(([name, value]) => [name, Buffer.from(value).toString("base64")]);
  const head = Buffer.from(JSON.stringify(metadataJson), "utf8");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, data ?? EMPTY_DATA]);
}

function unpackPayload(bytes: Buffer): Payload {
  const end = 4 + bytes.readUInt32BE();
  const metadataJson = JSON.parse(bytes.toString("utf8", 4, end)) as [string, string][];
  return {
    metadata: Object.fromEntries(
      metadataJson.map(([name, value]) => [name, new Uint8Array(Buffer.from(value, "base64"))]),
    ),
    data: new Uint8Array(bytes.subarray(end)),
  };
}

function getMetadataText({ metadata }: Payload, name: string): string | undefined {
  const value = metadata?.[name];
  return value === undefined || value === null ? undefined : Buffer.from(value).toString("utf8");
}

function toBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "utf8"));
}
