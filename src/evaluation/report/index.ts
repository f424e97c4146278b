export { adjustComparisons } from "./adjust-comparisons.ts";
export { type CaseMeans, computeCaseMeans } from "./case-means.ts";
export { type ChangedCase, MAX_CHANGED_CASES } from "./changed-cases.ts";
export { ComparisonBuilder } from "./comparison-builder.ts";
export { type CsvField, toCsvLine } from "./csv-line.ts";
export type { PassRate } from "./pass-rates.ts";
export { pairConfigurations, ReportBuilder } from "./report-builder.ts";
export type { ReportResult, ReportRow } from "./report-row.ts";
export type { RunComparison } from "./run-comparison.ts";
export {
  type ComparisonOptions,
  compareScores,
  type PairedScores,
  type ScoreComparison,
} from "./score-comparison.ts";
export type { ScoreInterval } from "./score-interval.ts";
export type { ScoreSummary } from "./score-summary.ts";
export type { CellTotals, ConfigurationReport, ReportFacts, SuiteReport } from "./suite-report.ts";
export type { TestMethod } from "./test-differences.ts";
export { isVolatileScore, removeVolatileFields, VOLATILE_FIELDS } from "./volatile-fields.ts";
