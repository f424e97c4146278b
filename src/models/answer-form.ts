import type { Vendor } from "./classify.ts";

export type ServerEvent = {
  readonly event: string | undefined;
  readonly data: string;
  /** The vendor says, beside the data, that this is an error. */
  readonly failed?: boolean;
};

/** Bytes in slices of any size to events. */
export interface AnswerReader {
  /** Throws a `ProviderError` where the bytes are damaged beyond reading. */
  read(bytes: Uint8Array): readonly ServerEvent[];
  /** The answer is over: what is whole of what was held back. */
  end(): readonly ServerEvent[];
  /** An event grew beyond the limit; nothing more can be read. */
  readonly overrun: boolean;
}

/** How answers travel: Server-Sent Events, unless a question says otherwise. */
export type AnswerForm = {
  /** The header of the question. */
  readonly accept: string;
  /** Whether an answer of this type is one; lower case, empty where the vendor named none. */
  readonly takes: (contentType: string) => boolean;
  readonly reader: (contentType: string, vendor: Vendor) => AnswerReader;
};
