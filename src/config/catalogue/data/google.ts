// Written by scripts/catalogue.mjs. Prices of 2026-11-22, from @pydantic/genai-prices 0.1.8.
import type { Row } from "../catalogue-row.ts";

export const GOOGLE: readonly Row[] = [
  ["gemini-2.5-flash", 1048576, 65536, 0.3, 2.5, 0.03, 0.3, "budget images schema"],
  ["gemini-2.5-flash-lite", 1000000, 65536, 0.1, 0.4, 0.01, 0.1, "budget images schema"],
  [
    "gemini-2.5-pro",
    1048576,
    65536,
    1.25,
    10,
    0.125,
    1.25,
    "budget images schema",
    [200000, 2.5, 15, 0.25, 2.5],
  ],
  ["gemini-3-flash-preview", 1000000, 65536, 0.5, 3, 0.05, 0.5, "level images schema"],
  ["gemini-3-pro-preview", 1048576, 65536, 2, 12, 0.2, 2, "level images schema", [200000, 4, 18, 0.4, 4]],
  ["gemini-3.1-flash-lite", 1000000, 65536, 0.25, 1.5, 0.025, 0.25, "level images schema"],
  ["gemini-3.1-pro-preview", 1048576, 65536, 2, 12, 0.2, 2, "level images schema", [200000, 4, 18, 0.4, 4]],
  ["gemini-3.5-flash", 1000000, 65536, 1.5, 9, 0.15, 1.5, "level images schema"],
  ["gemini-3.5-flash-lite", 1000000, 65536, 0.3, 2.5, 0.03, 0.3, "level images schema"],
  ["gemini-3.6-flash", 1000000, 65536, 0.75, 3.75, 0.075, 0.75, "level images schema"],
  ["gemini-3.7-flash", 1000000, 65536, 0.75, 3.75, 0.075, 0.75, "level images schema"],
  ["gemini-3.8-flash", 1000000, 65536, 0.75, 3.75, 0.075, 0.75, "level images schema"],
];
