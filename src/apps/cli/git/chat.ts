import { randomUUID } from "node:crypto";
import {
  chooseModels,
  defineGitAgent,
  findCapability,
  loadGitCapabilities,
  loadStyles,
} from "../../git/index.ts";
import { runChat } from "../commands/chat.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { type GitFlags, readGitFlags } from "./git-flags.ts";
import { openGitStack, openSite } from "./open-git.ts";

/**
 * Chats about a repository. A session that has made an artifact goes on with another definition, and the agent may change
 * the artifact (IRIS-01, IRIS-11).
 */
export async function chat(outer: Context, reference: string | undefined, flags: GitFlags): Promise<number> {
  const site = await openSite(outer, flags);
  const { context, repository, home, isTrusted, settings } = site;
  const loaded = loadGitCapabilities(home, isTrusted ? repository : undefined);
  const { models, style, subAgents, limits } = readGitFlags(flags, settings);
  const agent = defineGitAgent({
    capability: findCapability(loaded, "chat"),
    models: chooseModels({ ...models, env: context.streams.env }),
    style,
    styles: loadStyles(),
    workspace: repository,
    subAgents,
    limits,
    hasArtifact: true,
  });
  const stack = await openGitStack(context);
  try {
    const { holdfast } = stack;
    const session =
      reference === undefined ? (flags.session ?? randomUUID()) : await holdfast.sessions.find(reference);
    const isResumed = reference !== undefined;
    const title = isResumed ? undefined : "chat about a repository";
    const onSending = (): void => undefined;
    const at = await runChat({ context, holdfast, session, agent, title, isResumed, onSending });
    context.report(context.err.dim(`Left. To go on: holdfast git chat ${session}`));
    return at === "idle" ? EXIT.ok : EXIT.interrupted;
  } finally {
    await stack.close();
  }
}
