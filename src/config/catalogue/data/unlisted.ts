import type { Row } from "../catalogue-row.ts";

/** Models that are missing from the price list, each with its source. Maintained by hand. */
export const UNLISTED: readonly {
  readonly provider: string;
  readonly source: string;
  readonly date: string;
  readonly row: Row;
}[] = [
  {
    provider: "anthropic",
    source: "platform.claude.com/docs/en/models/sonnet-5-5/overview",
    date: "2026-11-22",
    row: ["claude-sonnet-5-5", 1000000, 128000, 2, 10, 0.1, 2.5, "adaptive images schema"],
  },
  {
    provider: "anthropic",
    source: "platform.claude.com/docs/en/models/haiku-5-5/overview",
    date: "2026-11-22",
    row: [
      "claude-haiku-5-5",
      1000000,
      128000,
      0.1,
      0.5,
      0.01,
      0.125,
      "adaptive images schema",
      [100000, 0.5, 2.5, 0.05, 0.625],
    ],
  },
  {
    provider: "openai",
    source: "developers.openai.com/api/docs/models/gpt-6.2-sol",
    date: "2026-11-22",
    row: ["gpt-6.2-sol", 1050000, 128000, 2, 10, 0.1, 2.5, "effort images schema", [272000, 4, 15, 0.2, 5]],
  },
];
