import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Recorded replies of real vendors, stored beside the project.

const FOLDER = fileURLToPath(new URL("../../../shared/vectors/", import.meta.url));

export type Vector = {
  readonly file: string;
  readonly host: string;
  readonly uri: string;
  readonly status: number;
  readonly ct: string;
  readonly kind: "sse" | "awsstream" | "json";
  readonly bytes: Buffer;
};

export const VECTORS_PRESENT = existsSync(`${FOLDER}index.json`);

if (!VECTORS_PRESENT) {
  console.warn(`\n*** SKIPPED: conformance with recorded vendor replies. There is no folder ${FOLDER} ***\n`);
}

export function readVectors(wanted: (vector: Omit<Vector, "bytes">) => boolean): readonly Vector[] {
  if (!VECTORS_PRESENT) return [];
  const index = JSON.parse(readFileSync(`${FOLDER}index.json`, "utf8")) as Omit<Vector, "bytes">[];
  return index.filter(wanted).map((entry) => ({ ...entry, bytes: readFileSync(FOLDER + entry.file) }));
}

export const anthropicStreams = readVectors((v) => v.kind === "sse" && v.uri.includes("/v1/messages"));
export const completionStreams = readVectors((v) => v.kind === "sse" && v.uri.includes("/chat/completions"));
export const responseStreams = readVectors((v) => v.kind === "sse" && v.uri.endsWith("/responses"));
/** Of Google, with Gemini and Vertex. */
export const geminiStreams = readVectors((v) => v.kind === "sse" && v.uri.includes(":streamGenerateContent"));
export const errorReplies = readVectors((v) => v.kind === "json" && v.status >= 400);
export const bedrockStreams = readVectors((v) => v.kind === "awsstream");
export const bedrockErrors = errorReplies.filter(({ host }) => host.startsWith("bedrock-runtime."));
