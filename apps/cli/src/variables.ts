/** The variables that only the command reads. Other names do not compile (ADR 175). */
export const commandVariables = [
  "POSTHASTE_URL",
  "POSTHASTE_TOKEN",
  "POSTHASTE_MANAGEMENT_URL",
  "POSTHASTE_MANAGEMENT_USER",
  "POSTHASTE_MANAGEMENT_PASSWORD",
] as const;

export type CommandVariable = (typeof commandVariables)[number];

type Name = CommandVariable | "HOME" | "XDG_CONFIG_HOME" | "EDITOR" | "VISUAL";

export type Environment = Readonly<Partial<Record<Name, string | undefined>>>;
