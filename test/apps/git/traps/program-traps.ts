import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Trap, TrapPlace } from "./trap.ts";

// Settings and files of a repository that make git, or another program, run a program.

function addAttribute(place: TrapPlace, line: string): void {
  place.write(".gitattributes", `${line}\n`);
}

function commitSigned(place: TrapPlace): void {
  const tree = place.git(["write-tree"]);
  const head = place.git(["rev-parse", "HEAD"]);
  const who = "A <a@example.com> 1700000000 +0000";
  const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
  const text = `tree ${tree}\nparent ${head}\nauthor ${who}\ncommitter ${who}\n${signature}\n\nsigned\n`;
  const id = place.git(["hash-object", "-t", "commit", "-w", "--stdin"], { input: text });
  place.git(["update-ref", "refs/heads/main", id]);
}

export const PROGRAM_TRAPS: readonly Trap[] = [
  {
    name: "a hook that runs when the index is written",
    set: (place) => {
      place.write(".git/hooks/post-index-change", `#!/bin/sh\ntouch ${place.canary}\n`);
      chmodSync(join(place.top, ".git/hooks/post-index-change"), 0o755);
      place.write("staged.txt", "staged\n");
    },
    fire: ["status"],
  },
  {
    name: "a folder of hooks in the work tree",
    set: (place) => {
      place.write("hooks/post-index-change", `#!/bin/sh\ntouch ${place.canary}\n`);
      chmodSync(join(place.top, "hooks/post-index-change"), 0o755);
      place.configure("core.hooksPath=hooks");
      place.write("staged.txt", "staged\n");
    },
    fire: ["status"],
  },
  {
    name: "a file system monitor",
    set: (place) => place.configure(`core.fsmonitor=${place.program}`),
    fire: ["status"],
  },
  {
    name: "a text conversion",
    set: (place) => {
      place.configure(`diff.evil.textconv=${place.program}`);
      addAttribute(place, "* diff=evil");
    },
    fire: ["diff", "HEAD~1"],
    calls: [["git_blame", { file: "f.txt", start_line: 1, end_line: 1, commit: "HEAD" }]],
  },
  {
    name: "an external diff",
    set: (place) => place.configure(`diff.external=${place.program}`),
    fire: ["diff", "HEAD~1"],
  },
  {
    name: "a diff program of an attribute",
    set: (place) => {
      place.configure(`diff.evil.command=${place.program}`);
      addAttribute(place, "* diff=evil");
    },
    fire: ["diff", "HEAD~1"],
  },
  {
    name: "a filter that cleans",
    set: (place) => {
      place.configure(`filter.evil.clean=${place.program}`);
      addAttribute(place, "* filter=evil");
    },
    fire: ["diff"],
  },
  {
    name: "a filter that smudges",
    set: (place) => {
      place.configure(`filter.evil.smudge=${place.program}`);
      addAttribute(place, "* filter=evil");
    },
    fire: ["checkout", "HEAD~1", "--", "f.txt"],
  },
  {
    name: "a filter that is a process, and required",
    set: (place) => {
      place.configure(`filter.evil.process=${place.program}`, "filter.evil.required=true");
      addAttribute(place, "* filter=evil");
    },
    fire: ["diff"],
  },
  {
    name: "a filter by the attributes of the git folder",
    set: (place) => {
      place.configure(`filter.evil.clean=${place.program}`);
      place.write(".git/info/attributes", "* filter=evil\n");
    },
    fire: ["diff"],
  },
  {
    name: "a merge driver",
    set: (place) => {
      place.configure(`merge.evil.driver=${place.program}`);
      place.write(".git/info/attributes", "* merge=evil\n");
      place.git(["branch", "other", "HEAD~1"]);
      place.git(["stash", "--quiet", "--include-untracked"]);
      place.git(["checkout", "--quiet", "other"]);
      place.write("f.txt", "other\n");
      place.commit("other");
    },
    fire: ["merge", "--no-edit", "main"],
    calls: [["git_diff", { from: "main", to: "other", merge_base: true, detail: "standard" }]],
  },
  {
    name: "an alias that runs a program",
    set: (place) =>
      place.configure(...["x", "log", "status", "diff"].map((name) => `alias.${name}=!${place.program}`)),
    fire: ["x"],
  },
  {
    name: "a pager",
    set: (place) =>
      place.configure(`core.pager=${place.program}`, `pager.log=${place.program}`, "pager.status=true"),
  },
  {
    name: "an editor",
    set: (place) => place.configure(`core.editor=${place.program}`),
    fire: ["commit", "--amend"],
  },
  {
    name: "an ssh command",
    set: (place) =>
      place.configure(
        `core.sshCommand=${place.program}`,
        "remote.origin.url=ssh://example.invalid/repository",
      ),
    fire: ["ls-remote", "origin"],
  },
  {
    name: "a remote that is a command",
    set: (place) => place.configure(`remote.origin.url=ext::${place.program}`, "protocol.ext.allow=always"),
    fire: ["ls-remote", "origin"],
  },
  {
    name: "a remote that is asked for a missing object",
    set: (place) => {
      place.configure(
        "core.repositoryformatversion=1",
        "extensions.partialClone=origin",
        "remote.origin.promisor=true",
        `remote.origin.url=${place.victim}`,
        `remote.origin.uploadpack=${place.program}`,
      );
      const id = place.git(["rev-parse", "HEAD:f.txt"]);
      rmSync(join(place.top, ".git/objects", id.slice(0, 2), id.slice(2)));
    },
    fire: ["show", "HEAD"],
  },
  {
    name: "a submodule whose address is an option",
    set: (place) => {
      place.write(
        ".gitmodules",
        `[submodule "--upload-pack=${place.program}"]\n\tpath = sub\n\turl = --upload-pack=${place.program}\n`,
      );
      place.git(["update-index", "--add", "--cacheinfo", `160000,${place.git(["rev-parse", "HEAD"])},sub`]);
    },
  },
  {
    name: "a submodule with a file system monitor of its own",
    set: (place) => {
      place.git(["clone", "--quiet", place.top, "sub"]);
      place.git(["config", "core.fsmonitor", place.program], { cwd: join(place.top, "sub") });
      place.git(["-C", "sub", "read-tree", "--empty"]);
      place.git([
        "update-index",
        "--add",
        "--cacheinfo",
        `160000,${place.git(["-C", "sub", "rev-parse", "HEAD"])},sub`,
      ]);
      place.write("sub/other.txt", "other\n");
      rmSync(place.canary, { force: true });
    },
    fire: ["status"],
  },
  {
    name: "a credential helper",
    set: (place) => place.configure(`credential.helper=!${place.program}`, `core.askPass=${place.program}`),
  },
  {
    name: "a program that verifies signatures",
    set: (place) => {
      commitSigned(place);
      place.configure(`gpg.program=${place.program}`, "log.showSignature=true");
    },
    fire: ["log", "-1"],
  },
  {
    name: "an included configuration",
    set: (place) => {
      place.write("more", `[core]\n\tfsmonitor = ${place.program}\n`);
      place.configure("include.path=../more", "includeIf.gitdir:**.path=../more");
    },
    fire: ["status"],
  },
  {
    name: "a configuration of the work tree",
    set: (place) => {
      place.configure("core.repositoryformatversion=1", "extensions.worktreeConfig=true");
      place.write(".git/config.worktree", `[core]\n\tfsmonitor = ${place.program}\n`);
    },
    fire: ["status"],
  },
  {
    name: "a git of the repository's own, first on PATH",
    set: (place) => {
      for (const name of ["git", "rg", "biome", "eslint", "cargo"]) {
        place.write(`node_modules/.bin/${name}`, `#!/bin/sh\ntouch ${place.canary}\n`);
        chmodSync(join(place.top, "node_modules/.bin", name), 0o755);
      }
      place.write("biome.json", "{}\n");
      process.env["PATH"] = `${join(place.top, "node_modules/.bin")}:${process.env["PATH"]}`;
    },
    fire: ["status"],
  },
  {
    name: "a linter that the repository brings",
    set: (place) => {
      for (const name of ["biome", "eslint", "oxlint"]) {
        place.write(`node_modules/.bin/${name}`, `#!/bin/sh\ntouch ${place.canary}\n`);
        chmodSync(join(place.top, "node_modules/.bin", name), 0o755);
      }
      place.write("biome.json", "{}\n");
      place.write(
        "eslint.config.mjs",
        `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(place.canary)}, "");\n`,
      );
    },
    calls: [["static_analysis", { files: ["f.txt"] }]],
  },
  {
    name: "a program in this process's environment",
    set: (place) => {
      process.env["GIT_EXTERNAL_DIFF"] = place.program;
      process.env["GIT_SSH_COMMAND"] = place.program;
      process.env["GIT_CONFIG_COUNT"] = "1";
      process.env["GIT_CONFIG_KEY_0"] = "core.fsmonitor";
      process.env["GIT_CONFIG_VALUE_0"] = place.program;
    },
  },
];
