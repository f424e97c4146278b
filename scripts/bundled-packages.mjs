/**
 * Packages whose code is part of dist, so that an install does not fetch them: the development dependencies that
 * `src/apps/cli/tui/pi-tui.ts` is bundled with (docs/decisions/0038-bundled-terminal-library.md). The build fails if the
 * bundle contains another package.
 */
export const BUNDLED_PACKAGES = ["@mariozechner/pi-tui", "get-east-asian-width", "marked"];

/** The packages whose grammars are part of dist/apps/git/map/grammars, with the files that the build copies. */
export const GRAMMARS = {
  "tree-sitter-typescript": ["tree-sitter-typescript.wasm", "tree-sitter-tsx.wasm"],
  "tree-sitter-javascript": ["tree-sitter-javascript.wasm"],
  "tree-sitter-python": ["tree-sitter-python.wasm"],
  "tree-sitter-go": ["tree-sitter-go.wasm"],
  "tree-sitter-rust": ["tree-sitter-rust.wasm"],
  "tree-sitter-java": ["tree-sitter-java.wasm"],
  "tree-sitter-c": ["tree-sitter-c.wasm"],
};
