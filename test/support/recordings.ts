import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isThorough } from "./test-depth.ts";

// Recorded replies of real vendors: those of the repository, and more where there are more.

export type Recording = {
  readonly file: string;
  readonly host: string;
  readonly uri: string;
  readonly status: number;
  readonly ct: string;
  readonly kind: "sse" | "awsstream" | "json";
  readonly bytes: Buffer;
};

export const RECORDINGS = fileURLToPath(new URL("../fixtures/recordings/", import.meta.url));

/** A folder with the same structure: HOLDFAST_RECORDINGS names it, or `npm run test:all` finds it beside the repository. */
const MORE_RECORDINGS =
  process.env["HOLDFAST_RECORDINGS"] ?? fileURLToPath(new URL("../../../shared/vectors/", import.meta.url));

export const hasMoreRecordings =
  process.env["HOLDFAST_RECORDINGS"] !== undefined ||
  (isThorough && existsSync(join(MORE_RECORDINGS, "index.json")));

/** Why tests of further recordings are skipped. */
export const NO_MORE_RECORDINGS =
  "no recordings beyond those of the repository (HOLDFAST_RECORDINGS names a folder of more; npm run test:all also looks beside the repository)";

const own = readFolder(RECORDINGS);
const names = new Set(own.map(({ file }) => file));
const more = hasMoreRecordings ? readFolder(MORE_RECORDINGS).filter(({ file }) => !names.has(file)) : [];

export const recordings: readonly Recording[] = [...own, ...more];

function readFolder(folder: string): readonly Recording[] {
  const index = JSON.parse(readFileSync(join(folder, "index.json"), "utf8")) as Omit<Recording, "bytes">[];
  return index.map((entry) => ({ ...entry, bytes: readFileSync(join(folder, entry.file)) }));
}

/** @throws If there is none of this name. */
export function getRecording(name: string): Recording {
  const found = recordings.find(({ file }) => file === name);
  if (found === undefined) throw new Error(`${RECORDINGS} has no recording ${name}`);
  return found;
}

const listStreams = (isOfEndpoint: (uri: string) => boolean) =>
  recordings.filter(({ kind, uri }) => kind === "sse" && isOfEndpoint(uri));

export const anthropicStreams = listStreams((uri) => uri.includes("/v1/messages"));
export const completionStreams = listStreams((uri) => uri.includes("/chat/completions"));
export const responseStreams = listStreams((uri) => uri.endsWith("/responses"));
/** Of Google, with Gemini and Vertex. */
export const geminiStreams = listStreams((uri) => uri.includes(":streamGenerateContent"));
export const bedrockStreams = recordings.filter(({ kind }) => kind === "awsstream");
export const errorReplies = recordings.filter(({ kind, status }) => kind === "json" && status >= 400);
export const bedrockErrors = errorReplies.filter(({ host }) => host.startsWith("bedrock-runtime."));
