import type { Payload, PayloadCodec, SerializationContext } from "@temporalio/common";
import type { Encryption } from "./encryption.ts";
import { KeyError } from "./key-error.ts";
import { type KeyRing, missingKey } from "./key-ring.ts";

/** What Temporal's own examples and tools know a sealed payload by. */
const ENCODING = "encoding";
const SEALED = "binary/encrypted";
const KEY_ID = "encryption-key-id";
/** The id of the workflow that a payload was made for. */
const MADE_FOR = "sealed-for";
/** On a payload that was opened: tells the workflow that its failures are to be sealed too. */
const OPENED = "was-sealed";

/** What a schedule puts behind the id that it was given. */
const SCHEDULED = /^-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/**
 * Seals what Temporal stores, and opens it again. A payload opens for the workflow alone that it was made for, as far as
 * whoever opens it knows which one it is: a codec server does not.
 */
export class SealingCodec implements PayloadCodec {
  readonly #ring: KeyRing | undefined;
  readonly #seals: boolean;

  constructor({ ring, payloads }: Encryption) {
    this.#ring = ring;
    this.#seals = payloads;
  }

  async encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    const ring = this.#ring;
    if (ring?.writes === undefined || !this.#seals) return payloads;
    return payloads.map((payload) => sealed(ring, payload, context?.workflowId));
  }

  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return payloads.map((payload) =>
      wordOf(payload, ENCODING) === SEALED ? this.#opened(payload, context?.workflowId) : payload,
    );
  }

  #opened(payload: Payload, workflow: string | undefined): Payload {
    const keyId = wordOf(payload, KEY_ID);
    if (keyId === undefined) {
      throw new KeyError("mismatch", "A payload was encrypted by another codec than Holdfast's.");
    }
    const ring = this.#ring;
    if (ring === undefined) throw missingKey(keyId, []);
    const madeFor = wordOf(payload, MADE_FOR);
    if (madeFor !== undefined && workflow !== undefined && !isSame(madeFor, workflow)) {
      throw new KeyError(
        "mismatch",
        `A payload of workflow ${workflow} was made for workflow ${madeFor}: it was moved.`,
        keyId,
      );
    }
    const { metadata = {}, data } = unpacked(ring.open("payload", payload.data ?? NOTHING, madeFor ?? ""));
    return { metadata: { ...metadata, [OPENED]: bytesOf(keyId) }, data: data ?? NOTHING };
  }
}

const NOTHING = new Uint8Array();

function sealed(ring: KeyRing, payload: Payload, workflow: string | undefined): Payload {
  return {
    metadata: {
      [ENCODING]: bytesOf(SEALED),
      [KEY_ID]: bytesOf(ring.writes ?? ""),
      ...(workflow === undefined ? {} : { [MADE_FOR]: bytesOf(workflow) }),
    },
    data: ring.seal("payload", packed(payload), workflow ?? ""),
  };
}

function isSame(madeFor: string, workflow: string): boolean {
  if (madeFor === workflow) return true;
  return workflow.startsWith(madeFor) && SCHEDULED.test(workflow.slice(madeFor.length));
}

/** The length of the metadata, the metadata as JSON, the data. */
function packed({ metadata, data }: Payload): Buffer {
  const words = Object.entries(metadata ?? {})
    .filter(([name]) => name !== OPENED)
    .map(([name, value]) => [name, Buffer.from(value).toString("base64")]);
  const head = Buffer.from(JSON.stringify(words), "utf8");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, data ?? NOTHING]);
}

function unpacked(bytes: Buffer): Payload {
  const end = 4 + bytes.readUInt32BE();
  const words = JSON.parse(bytes.toString("utf8", 4, end)) as [string, string][];
  return {
    metadata: Object.fromEntries(
      words.map(([name, value]) => [name, new Uint8Array(Buffer.from(value, "base64"))]),
    ),
    data: new Uint8Array(bytes.subarray(end)),
  };
}

function wordOf({ metadata }: Payload, name: string): string | undefined {
  const value = metadata?.[name];
  return value === undefined || value === null ? undefined : Buffer.from(value).toString("utf8");
}

function bytesOf(word: string): Uint8Array {
  return new Uint8Array(Buffer.from(word, "utf8"));
}
