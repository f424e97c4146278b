// The terminal library. The build replaces this module with a bundle of the library, so that installing Holdfast does not
// install it: an optional dependency of it, a native module for Windows, is 28 MB (docs/decisions/0038-bundled-terminal-library.md).

export {
  type AutocompleteItem,
  type AutocompleteProvider,
  type AutocompleteSuggestions,
  type Component,
  CURSOR_MARKER,
  decodeKittyPrintable,
  Editor,
  type EditorTheme,
  fuzzyFilter,
  isKeyRelease,
  Markdown,
  type MarkdownTheme,
  matchesKey,
  ProcessTerminal,
  setCapabilities,
  TUI,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from "@mariozechner/pi-tui";
