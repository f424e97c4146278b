import { createHash } from "node:crypto";
export const digestScorer = (s: unknown) => createHash("sha256").update(JSON.stringify(s)).digest("hex");
