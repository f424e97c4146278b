import type { Styles } from "./presets.ts";

/** The style that a user has selected. */
export type StyleChoice = {
  /** A name of `Styles.presets`; `default` by default. */
  readonly preset?: string | undefined;
  readonly gitmoji?: boolean | undefined;
};

/** What the preset's name must not be combined with: Conventional Commits have no emoji. */
const WITHOUT_EMOJI = "conventional";

/** Appends the instructions of a style to those of a capability (IRIS-28). An unknown preset appends nothing. */
export function appendStyle(
  prompt: string,
  capability: string,
  { preset = "default", gitmoji = false }: StyleChoice,
  styles: Styles,
): string {
  const chosen = Object.hasOwn(styles.presets, preset) ? styles.presets[preset] : undefined;
  const parts = [prompt];
  if (chosen !== undefined) parts.push(`=== STYLE INSTRUCTIONS ===\n${chosen.instructions.trim()}`);
  if (gitmoji && preset !== WITHOUT_EMOJI && capability === "commit")
    parts.push(`=== GITMOJI INSTRUCTIONS ===\n${formatGitmojiGuide(styles)}`);
  return parts.join("\n\n");
}

function formatGitmojiGuide({ gitmoji }: Styles): string {
  const lines = Object.entries(gitmoji).map(([emoji, meaning]) => `${emoji} ${meaning}`);
  return ["Set the field `emoji` to the one that fits the commit best:", ...lines].join("\n");
}
