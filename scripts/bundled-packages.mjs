/**
 * Packages whose code is part of dist, so that an install does not fetch them: the development dependencies that
 * `src/apps/cli/tui/pi-tui.ts` is bundled with (docs/decisions/0038-bundled-terminal-library.md). The build fails if the
 * bundle contains another package.
 */
export const BUNDLED_PACKAGES = ["@mariozechner/pi-tui", "get-east-asian-width", "marked"];
