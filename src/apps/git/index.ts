// Git work: tools that read a repository, safely even if it is a stranger's. Capabilities, commands and pages stand on these.

export { chooseModels } from "./agents/choose-models.ts";
export { defineGitAgent } from "./agents/define-agent.ts";
export type { Task } from "./agents/task-prompt.ts";
export { type ArtifactChange, applyArtifactChange } from "./artifacts/artifact-change.ts";
export { CommitMessage } from "./artifacts/commit-message.ts";
export type { Artifact } from "./artifacts/read-artifact.ts";
export { Review, Severity } from "./artifacts/review.ts";
export {
  CAPABILITY_ORIGINS,
  type Capability,
  createGenericCapability,
} from "./capabilities/capability.ts";
export { type Capabilities, loadCapabilities } from "./capabilities/load-capabilities.ts";
export { formatResponseInstructions } from "./capabilities/response-format.ts";
export type { ChangedFile, ChangeSet, ChangeSource, Hunk } from "./changes/change-set.ts";
export {
  type Coverage,
  formatCoverage,
  type Ledger,
  openLedger,
  recordCoverage,
  recordLostAgent,
  summarizeCoverage,
} from "./changes/coverage-ledger.ts";
export { findDefaultBase } from "./changes/find-default-base.ts";
export { pinLines } from "./changes/pin-lines.ts";
export { hashEmptyTree, readChangeSet } from "./changes/read-change-set.ts";
export { type Commit, readCommits } from "./changes/read-commits.ts";
export { type Relevance, scoreRelevance } from "./changes/relevance.ts";
export { classifySize, describeGuidance, type SizeClass } from "./changes/size-class.ts";
export { findCommittedChange, findMadeCommit } from "./commit/find-made-commit.ts";
export { formatMessage } from "./commit/format-message.ts";
export { type CommitPlan, type PlannedCommit, planCommit } from "./commit/plan-commit.ts";
export { type Identity, type IdentityResult, readIdentity } from "./commit/read-identity.ts";
export type { Signature } from "./commit/signature.ts";
export { type CommitRequest, type WriteCommitResult, writeCommit } from "./commit/write-commit.ts";
export { createGitEvidenceReader, STAGED } from "./evidence/git-evidence-reader.ts";
export { type HookResult, installHook, removeHook } from "./hooks/prepare-commit-msg.ts";
export { formatReviewText, type ReviewStyle } from "./output/format-review.ts";
export { formatReviewMarkdown } from "./output/format-review-markdown.ts";
export { type CriticVerdict, listFailing, type ReviewReport } from "./output/review-report.ts";
export { buildSarif, type SarifOptions } from "./output/sarif.ts";
export { type ChangelogSection, updateChangelog, updateChangelogFile } from "./output/update-changelog.ts";
export { findGitFolder } from "./repository/find-git-folder.ts";
export type { UserEnvironment } from "./repository/read-user-config.ts";
export { type OpenOptions, type Repository, withRepository } from "./repository/repository.ts";
export { RepositoryError, type RepositoryFault } from "./repository/repository-error.ts";
export { resolveCommit } from "./repository/resolve-commit.ts";
export { type Trust, TrustStore } from "./repository/trust-store.ts";
export { buildRun, findCapability, loadGitCapabilities, usesCritic } from "./runs/build-run.ts";
export type { CapabilityResult, Phase, Published } from "./runs/capability-run.ts";
export { runCapability } from "./runs/run-capability.ts";
export { type RunPlan, readPromptNotes } from "./runs/run-plan.ts";
export { type GitSettings, readGitSettings } from "./settings.ts";
export { appendStyle, type StyleChoice } from "./style/append-style.ts";
export { loadStyles, type Styles } from "./style/presets.ts";
export { toVisibleJson, toVisibleName, toVisibleText } from "./text/visible-text.ts";
export type { GitToolOptions } from "./tools/define-git-tool.ts";
export { createGitTools, DELEGATION_TOOLS, type GitTools } from "./tools/registry.ts";
