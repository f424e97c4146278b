import { existsSync } from "node:fs";
import { extname } from "node:path";
import type { Command } from "commander";
import type { RunAction } from "./context.ts";

/** Adds the arguments, options and action of a command. */
type ConfigureCommand = (command: Command, runAction: RunAction) => void;

export type CommandEntry = {
  /** One line of `holdfast --help`. */
  readonly summary: string;
  readonly alias?: string;
  /** Imports the command's file. `holdfast --help` prints the table without the files, which import the client. */
  readonly load: () => Promise<ConfigureCommand>;
  /** Whether this installation has the command: the npm package has no git work yet, a clone has. Absent: it has. */
  readonly isPresent?: () => boolean;
};

/** Every command, in the groups and in the order of `holdfast --help`. */
export const COMMAND_GROUPS = {
  "Run agents": {
    run: {
      summary: "Give an agent a task and watch the run until it ends",
      load: async () => (await import("./commands/run.ts")).configureRunCommand,
    },
    chat: {
      summary: "Chat with an agent at the terminal; text that you type while it runs steers it",
      load: async () => (await import("./commands/chat.ts")).configureChatCommand,
    },
    send: {
      summary: "Send a message to a session in any state: the session is created, prompted or continued",
      load: async () => (await import("./commands/send.ts")).configureSendCommand,
    },
    schedule: {
      summary: "Start agents on a schedule: a run, or any mode of an agent file",
      load: async () => (await import("./commands/schedule.ts")).configureScheduleCommand,
    },
  },
  "Watch and steer": {
    attach: {
      summary: "Watch sessions that run elsewhere, and send messages to them",
      load: async () => (await import("./commands/attach.ts")).configureAttachCommand,
    },
    status: {
      summary: "Print a session's status, and what it waits for",
      load: async () => (await import("./commands/status.ts")).configureStatusCommand,
    },
    steer: {
      summary: "Send a message that the agent reads before its next model call",
      load: async () => (await import("./commands/steer.ts")).configureSteerCommand,
    },
    "follow-up": {
      summary: "Queue a message that is delivered when the agent would otherwise stop",
      load: async () => (await import("./commands/steer.ts")).configureFollowUpCommand,
    },
    answer: {
      summary: "Answer the question of a waiting tool call; without an answer, display the question",
      load: async () => (await import("./commands/answer.ts")).configureAnswerCommand,
    },
    approve: {
      summary: "Approve a tool call that waits for approval",
      load: async () => (await import("./commands/approve.ts")).configureApproveCommand,
    },
    deny: {
      summary: "Deny a tool call that waits for approval",
      load: async () => (await import("./commands/approve.ts")).configureDenyCommand,
    },
    "raise-limit": {
      summary: "Raise the limits of a running loop: turns, tokens, time or money",
      load: async () => (await import("./commands/continue.ts")).configureRaiseLimitCommand,
    },
    update: {
      summary: "Change a session's definition; an open run changes before its next turn",
      load: async () => (await import("./commands/update.ts")).configureUpdateCommand,
    },
    compact: {
      summary: "Compact a session's context; the record keeps every message",
      load: async () => (await import("./commands/compact.ts")).configureCompactCommand,
    },
    stop: {
      summary: "Stop a run: first the model request, then the tools, then the loop",
      load: async () => (await import("./commands/steer.ts")).configureStopCommand,
    },
  },
  Sessions: {
    list: {
      summary: "List sessions, the most recently active first",
      alias: "ls",
      load: async () => (await import("./commands/list.ts")).configureListCommand,
    },
    show: {
      summary: "Print a session's conversation from the transcript",
      load: async () => (await import("./commands/show.ts")).configureShowCommand,
    },
    title: {
      summary: "Give a session another title, under which lists and the Temporal UI display it",
      load: async () => (await import("./commands/title.ts")).configureTitleCommand,
    },
    search: {
      summary: "Find messages by their text, the newest session first",
      load: async () => (await import("./commands/search.ts")).configureSearchCommand,
    },
    export: {
      summary: "Write a session to a file that another machine can import",
      load: async () => (await import("./commands/export.ts")).configureExportCommand,
    },
    import: {
      summary: "Import an exported session, completely or not at all",
      load: async () => (await import("./commands/export.ts")).configureImportCommand,
    },
    accept: {
      summary: "Accept the agent of an imported session, so that runs may start with it",
      load: async () => (await import("./commands/export.ts")).configureAcceptCommand,
    },
    keep: {
      summary: "Exempt a session from the retention rules",
      load: async () => (await import("./commands/retention.ts")).configureKeepCommand,
    },
    delete: {
      summary: "Delete a session and the sessions of its sub-agents permanently",
      load: async () => (await import("./commands/delete.ts")).configureDeleteCommand,
    },
    retention: {
      summary: "Set how long sessions are retained; by default nothing is deleted",
      load: async () => (await import("./commands/retention.ts")).configureRetentionCommand,
    },
  },
  "Continue and branch": {
    continue: {
      summary: "Continue an idle session without a new prompt: after a limit, a stop or a failure",
      load: async () => (await import("./commands/continue.ts")).configureContinueCommand,
    },
    rerun: {
      summary: "Answer the prompts of a loop again, on a new branch; the original loop stays",
      load: async () => (await import("./commands/continue.ts")).configureRerunCommand,
    },
    branch: {
      summary: "Rerun from an earlier position on a new branch, with another prompt, model or agent",
      load: async () => (await import("./commands/branch.ts")).configureBranchCommand,
    },
    fork: {
      summary:
        "Create a branch at any position of a session's conversation; nothing is copied, nothing else changes",
      load: async () => (await import("./commands/fork.ts")).configureForkCommand,
    },
    rewind: {
      summary:
        "Move the head of an idle session to an earlier position, or forward again; the record keeps every message",
      load: async () => (await import("./commands/fork.ts")).configureRewindCommand,
    },
  },
  "Several agents": {
    compare: {
      summary: "Give several agents the same task in parallel, and continue with the best answer",
      load: async () => (await import("./commands/compare.ts")).configureCompareCommand,
    },
    explore: {
      summary:
        "Try several prompts or agents in parallel from one position of a session; all branches stay, none is selected",
      load: async () => (await import("./commands/explore.ts")).configureExploreCommand,
    },
    eval: {
      summary: "Run suites of cases against agents, score the answers, and compare the runs",
      load: async () => (await import("./commands/eval.ts")).configureEvalCommand,
    },
    job: {
      summary:
        "List, inspect, stop, wake or resume jobs: agents that work together (see [mode] of an agent file)",
      load: async () => (await import("./commands/job.ts")).configureJobCommand,
    },
  },
  "Git work": {
    git: {
      summary: "Review changes, and write commit messages, pull requests and changelogs",
      load: async () => (await import("./git/configure-git.ts")).configureGitCommand,
      isPresent: () => existsSync(new URL(`./git/configure-git${extname(import.meta.url)}`, import.meta.url)),
    },
  },
  "Agent files, models and tools": {
    init: {
      summary: "Write a commented agent file as a starting point",
      load: async () => (await import("./commands/init.ts")).configureInitCommand,
    },
    config: {
      summary: "Check agent files, and print their definitions",
      load: async () => (await import("./commands/config.ts")).configureConfigCommand,
    },
    models: {
      summary: "List the known models with their sizes, prices and capabilities",
      load: async () => (await import("./commands/models.ts")).configureModelsCommand,
    },
    mcp: {
      summary: "Inspect and import servers of the Model Context Protocol",
      load: async () => (await import("./commands/mcp.ts")).configureMcpCommand,
    },
    openapi: {
      summary: "Inspect APIs as agents see them",
      load: async () => (await import("./commands/openapi.ts")).configureOpenapiCommand,
    },
    skills: {
      summary: "List and check the skills that agents may read",
      load: async () => (await import("./commands/skills.ts")).configureSkillsCommand,
    },
  },
  Operate: {
    dev: {
      summary: "Run a Temporal server and a worker on this machine until Ctrl-C",
      load: async () => (await import("./commands/dev.ts")).configureDevCommand,
    },
    doctor: {
      summary: "Check the requirements of agents, and explain how to fix what is missing",
      load: async () => (await import("./commands/doctor.ts")).configureDoctorCommand,
    },
    worker: {
      summary: "Run a worker until Ctrl-C; it drains, then exits",
      load: async () => (await import("./commands/worker.ts")).configureWorkerCommand,
    },
    serve: {
      summary: "Serve sessions over HTTP until Ctrl-C: JSON, event streams, chats of the AI SDK",
      load: async () => (await import("./commands/serve.ts")).configureServeCommand,
    },
    ui: {
      summary: "Print the views and columns that show agents in the Temporal UI, and how to set them up",
      load: async () => (await import("./commands/ui.ts")).configureUiCommand,
    },
    backup: {
      summary: "Copy this home's transcript and dev server as of one moment; runs may be open",
      load: async () => (await import("./commands/backup.ts")).configureBackupCommand,
    },
    restore: {
      summary: "Check every byte of a backup, then write it into an empty home",
      load: async () => (await import("./commands/backup.ts")).configureRestoreCommand,
    },
    rekey: {
      summary: "Encrypt the whole transcript with the first key of HOLDFAST_ENCRYPTION_KEYS",
      load: async () => (await import("./commands/rekey.ts")).configureRekeyCommand,
    },
    completion: {
      summary: "Print the script that completes commands and options in a shell",
      load: async () => (await import("./commands/completion.ts")).configureCompletionCommand,
    },
  },
} as const satisfies Record<string, Record<string, CommandEntry>>;
