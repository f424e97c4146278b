import type { AddressInfo } from "node:net";
import { Http } from "../../models/http.ts";
import type { ModelRequest } from "../../models/provider.ts";
import { ProviderError, type ProviderFault } from "../../models/provider-error.ts";
import { ProviderRegistry } from "../../models/registry.ts";
import type { AssistantMessage, StopReason, Usage } from "../../schema/message.ts";
import type { Protocol } from "../../schema/model.ts";
import { modelAt, REPLAY_KEY } from "./model-at.ts";
import { bytesOf, type Recording, readRecordings } from "./recordings.ts";
import { type Road, roadOf, roadOfHost } from "./road.ts";
import { serve } from "./serve.ts";

/** What an adapter made of a recording. */
export type Replayed = {
  readonly id: string;
  /** Names it where ids repeat. */
  readonly file: string;
  readonly protocol: Protocol;
  readonly ok: boolean;
  readonly message?: AssistantMessage;
  readonly usage?: Usage;
  readonly stopReason?: StopReason;
  readonly error?: {
    /** The last three are failures of ours. */
    readonly fault: ProviderFault | "no-adapter" | "unreadable" | "crashed";
    readonly status?: number | undefined;
    readonly message: string;
    readonly retryAfterMs?: number | undefined;
    /** The vendor's own word. */
    readonly type?: string | undefined;
  };
};

export type ReplayOptions = {
  /** The built-in adapters unless given. A recording has one answer, and none to a question that goes on from it. */
  readonly registry?: (http: Http) => ProviderRegistry;
  /** Without other endpoints at the vendors' own hosts, such as the counting of tokens. */
  readonly generatingOnly?: boolean;
};

/** A recording that says nothing for so long never ends. */
const SILENCE_MS = 20_000;

/**
 * Asks the adapter of each recording's protocol, over HTTP, at a server that answers with the recording. Recordings
 * that belong to no protocol are left out.
 */
export async function* replayFolder(folder: string, options: ReplayOptions = {}): AsyncGenerator<Replayed> {
  const recordings = await readRecordings(folder);
  const http = new Http({ firstByteTimeoutMs: SILENCE_MS, silenceTimeoutMs: SILENCE_MS });
  const registry = (
    options.registry ?? ((pool) => ProviderRegistry.default({ http: pool, maxContinuations: 0 }))
  )(http);
  try {
    for (const recording of recordings) {
      const road = roadOf(recording) ?? (options.generatingOnly ? undefined : roadOfHost(recording));
      if (road !== undefined) yield await replay(folder, recording, road, registry);
    }
  } finally {
    await http.close();
  }
}

async function replay(
  folder: string,
  recording: Recording,
  road: Road,
  registry: ProviderRegistry,
): Promise<Replayed> {
  const { id, file } = recording;
  const { protocol } = road;
  const what = { id, file, protocol };
  const provider = registry.get(protocol);
  const failed = (error: NonNullable<Replayed["error"]>): Replayed => ({ ...what, ok: false, error });
  if (provider === undefined)
    return failed({ fault: "no-adapter", message: `no adapter is registered for ${protocol}` });
  const bytes = await bytesOf(folder, recording).catch((error: Error) => error);
  if (bytes instanceof Error) return failed({ fault: "unreadable", message: bytes.message });
  const server = await serve(recording, bytes);
  try {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const message = await provider.stream(questionAt(origin, recording, road), {
      signal: new AbortController().signal,
      now: () => 0,
    });
    const { usage, stopReason } = message;
    return { ...what, ok: true, message, usage, stopReason };
  } catch (error) {
    if (!(error instanceof ProviderError)) return failed({ fault: "crashed", message: String(error) });
    const { fault, status, message, retryAfterMs, vendorType } = error;
    return failed({ fault, status, message, retryAfterMs, type: vendorType });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

function questionAt(origin: string, recording: Recording, road: Road): ModelRequest {
  return {
    model: modelAt(origin, recording, road),
    apiKey: REPLAY_KEY,
    systemPrompt: "",
    messages: [{ role: "user", content: [{ type: "text", text: "Say it again." }], timestamp: 0 }],
    tools: [],
    thinking: "off",
    cache: { enabled: false, strategy: "auto" },
  };
}
