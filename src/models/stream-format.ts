import type { Vendor } from "./provider-error-from-response.ts";

export type ServerEvent = {
  readonly event: string | undefined;
  readonly data: string;
  /** The vendor says, beside the data, that this is an error. */
  readonly failed?: boolean;
};

/** Bytes in slices of any size to events. */
export interface StreamReader {
  /** Throws a `ProviderError` where the bytes are damaged beyond reading. */
  read(bytes: Uint8Array): readonly ServerEvent[];
  /** The answer is over: what is whole of what was held back. */
  end(): readonly ServerEvent[];
  /** An event grew beyond the limit; nothing more can be read. */
  readonly isOverrun: boolean;
}

/** How answers travel: Server-Sent Events, unless a question says otherwise. */
export type StreamFormat = {
  /** The header of the question. */
  readonly accept: string;
  /** Whether an answer of this type is one; lower case, empty where the vendor named none. */
  readonly accepts: (contentType: string) => boolean;
  readonly createReader: (contentType: string, vendor: Vendor) => StreamReader;
};
