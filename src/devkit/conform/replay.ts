import type { AddressInfo } from "node:net";
import { HttpClient } from "../../models/http-client.ts";
import type { ModelRequest } from "../../models/provider.ts";
import { ProviderError, type ProviderFault } from "../../models/provider-error.ts";
import { ProviderRegistry } from "../../models/provider-registry.ts";
import type { AssistantMessage, StopReason, Usage } from "../../schema/message.ts";
import type { Protocol } from "../../schema/model.ts";
import { buildModel, REPLAY_KEY } from "./model-config.ts";
import { type Recording, readBytes, readRecordings } from "./recordings.ts";
import { findRoute, findRouteByHost, type Route } from "./route.ts";
import { serveRecording } from "./serve.ts";

/** An adapter's result for a recording. */
export type ReplayResult = {
  readonly id: string;
  /** Identifies the recording if ids repeat. */
  readonly file: string;
  readonly protocol: Protocol;
  readonly ok: boolean;
  readonly message?: AssistantMessage;
  readonly usage?: Usage;
  readonly stopReason?: StopReason;
  readonly error?: {
    /** The last three are faults of Holdfast. */
    readonly fault: ProviderFault | "no-adapter" | "unreadable" | "crashed";
    readonly status?: number | undefined;
    readonly message: string;
    readonly retryAfterMs?: number | undefined;
    /** The vendor's own error type. */
    readonly type?: string | undefined;
  };
};

export type ReplayOptions = {
  /** By default the built-in adapters. A recording has only one answer, and none to a follow-up request. */
  readonly registry?: (http: HttpClient) => ProviderRegistry;
  /** Skips other endpoints at the vendors' own hosts, such as token counting. */
  readonly generatingOnly?: boolean;
};

/** A recording without data for this time never ends. */
const SILENCE_MS = 20_000;

/**
 * Calls the adapter of each recording's protocol over HTTP, with a server that answers with the recording. Recordings
 * without a protocol are skipped.
 */
export async function* replayFolder(
  folder: string,
  options: ReplayOptions = {},
): AsyncGenerator<ReplayResult> {
  const recordings = await readRecordings(folder);
  const http = new HttpClient({ firstByteTimeoutMs: SILENCE_MS, bodyTimeoutMs: SILENCE_MS });
  const registry = (
    options.registry ?? ((pool) => ProviderRegistry.createDefault({ http: pool, maxContinuations: 0 }))
  )(http);
  try {
    for (const recording of recordings) {
      const route = findRoute(recording) ?? (options.generatingOnly ? undefined : findRouteByHost(recording));
      if (route !== undefined) yield await replayRecording(folder, recording, route, registry);
    }
  } finally {
    await http.close();
  }
}

async function replayRecording(
  folder: string,
  recording: Recording,
  route: Route,
  registry: ProviderRegistry,
): Promise<ReplayResult> {
  const { id, file } = recording;
  const { protocol } = route;
  const what = { id, file, protocol };
  const provider = registry.get(protocol);
  const failed = (failure: NonNullable<ReplayResult["error"]>): ReplayResult => ({
    ...what,
    ok: false,
    error: failure,
  });
  if (provider === undefined)
    return failed({ fault: "no-adapter", message: `no adapter is registered for ${protocol}` });
  const bytes = await readBytes(folder, recording).catch((error: Error) => error);
  if (bytes instanceof Error) return failed({ fault: "unreadable", message: bytes.message });
  const server = await serveRecording(recording, bytes);
  try {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const message = await provider.stream(buildRequest(origin, recording, route), {
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

function buildRequest(origin: string, recording: Recording, route: Route): ModelRequest {
  return {
    model: buildModel(origin, recording, route),
    apiKey: REPLAY_KEY,
    systemPrompt: "",
    messages: [{ role: "user", content: [{ type: "text", text: "Say it again." }], timestamp: 0 }],
    tools: [],
    thinking: "off",
    cache: { enabled: false, strategy: "auto" },
  };
}
