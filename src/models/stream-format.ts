import type { Vendor } from "./provider-error-from-response.ts";

export type ServerEvent = {
  readonly event: string | undefined;
  readonly data: string;
  /** The vendor marks the event, apart from its data, as an error. */
  readonly isError?: boolean;
};

/** Reads bytes in slices of any size and returns events. */
export interface StreamReader {
  /** Throws a `ProviderError` if the bytes are corrupt. */
  read(bytes: Uint8Array): readonly ServerEvent[];
  /** Ends the answer and returns the complete events among the buffered data. */
  end(): readonly ServerEvent[];
  /** An event exceeds the limit; nothing more can be read. */
  readonly isOverrun: boolean;
}

/** The format of an answer's stream: Server-Sent Events by default. */
export type StreamFormat = {
  /** The `accept` header of the request. */
  readonly accept: string;
  /** Returns whether this content type is a stream; lower case, empty if the vendor sent none. */
  readonly accepts: (contentType: string) => boolean;
  readonly createReader: (contentType: string, vendor: Vendor) => StreamReader;
};
