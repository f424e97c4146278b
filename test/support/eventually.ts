import { type EventuallyOptions, eventually as poll } from "../../src/testing/eventually.ts";

/** Only what never comes takes as long, on a busy machine too. */
const TIMEOUT_MS = 60_000;

/** Like `eventually` of holdfast/testing, with the time that tests of ours have. */
export async function eventually<Seen>(
  probe: () => Promise<Seen | undefined | false> | Seen | undefined | false,
  { timeoutMs = TIMEOUT_MS, ...options }: EventuallyOptions = {},
): Promise<Seen> {
  return await poll(probe, { timeoutMs, ...options });
}
