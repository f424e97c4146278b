// Written by scripts/catalogue.mjs. Prices of 2026-11-22, from @pydantic/genai-prices 0.1.8.
import type { Row } from "../catalogue-row.ts";

export const ANTHROPIC: readonly Row[] = [
  ["claude-fable-5", 1000000, 128000, 10, 50, 1, 12.5, "adaptive images schema"],
  ["claude-fable-5-1", 1000000, 128000, 10, 50, 0.25, 12.5, "adaptive images schema"],
  ["claude-haiku-4-5", 200000, 64000, 1, 5, 0.1, 1.25, "budget images schema"],
  ["claude-opus-4-0", 200000, 32000, 15, 75, 1.5, 18.75, "budget images"],
  ["claude-opus-4-1", 200000, 32000, 15, 75, 1.5, 18.75, "budget images"],
  ["claude-opus-4-5", 200000, 64000, 5, 25, 0.5, 6.25, "budget images schema"],
  ["claude-opus-4-6", 1000000, 128000, 5, 25, 0.5, 6.25, "budget images schema"],
  ["claude-opus-4-7", 1000000, 128000, 5, 25, 0.5, 6.25, "adaptive images schema"],
  ["claude-opus-4-8", 1000000, 128000, 5, 25, 0.5, 6.25, "adaptive images schema"],
  ["claude-opus-5", 1000000, 128000, 5, 25, 0.5, 6.25, "adaptive images schema"],
  ["claude-opus-5-5", 1000000, 128000, 4, 20, 0.2, 5, "adaptive images schema"],
  ["claude-sonnet-4-0", 200000, 64000, 3, 15, 0.3, 3.75, "budget images"],
  ["claude-sonnet-4-5", 200000, 64000, 3, 15, 0.3, 3.75, "budget images schema", [200000, 6, 22.5, 0.6, 7.5]],
  ["claude-sonnet-4-6", 1000000, 64000, 3, 15, 0.3, 3.75, "budget images schema"],
  ["claude-sonnet-5", 1000000, 128000, 2, 10, 0.2, 2.5, "adaptive images schema"],
];
