/** Backs up a standalone's data folder, and restores a copy into a new folder. Neither command asks a server. */
import { type Command } from "commander";
import { aboutData, dataFolder, orFail } from "../local-server.ts";
import { withValue } from "../option.ts";
import { counted } from "../output.ts";
import { type Acting } from "../session.ts";

type Options = { readonly data?: string; readonly withSecrets?: boolean };

export function addBackup(program: Command, acting: Acting): void {
  const backup = program
    .command("backup <folder>")
    .description(
      "copy the data folder of a standalone into a new folder, also while the standalone runs",
    )
    .option(
      "--with-secrets",
      "Copy the sealing key and the secrets, too: keep such a copy as safe as the secrets",
    );
  withValue(backup, "--data <folder>", aboutData);
  backup.action(
    acting<Options>(async ({ output }, [folder = ""], { data, withSecrets = false }) => {
      const { backUp } = await import("@posthaste/standalone-process/folder");
      const copied = orFail(() => backUp(dataFolder(data), folder, withSecrets));
      const secrets = copied.hasKey
        ? "with sealing.key and secrets"
        : "without sealing.key and secrets";
      output.done(`${textOf(copied)} copied and read back, ${secrets}`, copied);
    }),
  );
}

export function addRestore(program: Command, acting: Acting): void {
  const restore = program
    .command("restore <folder>")
    .description("put a copy made by backup into a data folder without a store");
  withValue(restore, "--data <folder>", aboutData);
  restore.action(
    acting<Options>(async ({ output }, [folder = ""], { data }) => {
      const { restore: put } = await import("@posthaste/standalone-process/folder");
      const to = dataFolder(data);
      const restored = orFail(() => put(folder, to));
      const missing = restored.hasKey ? "" : `: put sealing.key into ${to} before a server starts`;
      output.done(`${textOf(restored)} restored${missing}`, restored);
    }),
  );
}

const mebibyte = 1024 * 1024;

const textOf = ({
  bytes,
  messages,
}: {
  readonly bytes: number;
  readonly messages: number;
}): string => `${counted(messages, "message")}, ${(bytes / mebibyte).toFixed(1)} MiB`;
