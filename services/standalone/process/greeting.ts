/** The text that `npm start` prints: addresses, the data folder, and a first publish to paste. */

export type Greeting = {
  readonly config: {
    readonly profile: string;
    readonly host: string;
    readonly dataDir: string;
    readonly catcher: boolean;
    readonly console: string;
  };
  readonly port: number;
  /** Undefined when the management API is off. */
  readonly managementPort: number | undefined;
  /** Undefined if tokens are not printed. */
  readonly token: string | undefined;
};

export function greeting({ config, port, managementPort, token }: Greeting): string {
  const url = `http://${config.host}:${port}`;
  const target = config.catcher
    ? `http://${config.host}:${port + 1}/hello`
    : "https://example.com/hello";
  const lines = [
    "",
    `  Posthaste is ready (${config.profile} profile).`,
    "",
    `  address  ${url}`,
    `  data     ${config.dataDir}`,
    `  token    ${token ?? "as configured; not printed"}`,
    ...(config.console === "off" ? [] : [`  console  ${url}/console/`]),
    ...(managementPort === undefined ? [] : [`  manage   http://${config.host}:${managementPort}`]),
    ...(config.catcher ? [`  catcher  ${new URL(target).origin} prints each request`] : []),
    "",
    "  Publish a first message:",
    "",
    `    curl -X POST ${url}/v2/publish/${target} \\`,
    `      -H "Authorization: Bearer ${token ?? "$POSTHASTE_TOKEN"}" \\`,
    `      -H "Content-Type: application/json" \\`,
    `      -d '{"hello":"world"}'`,
    "",
    "",
  ];
  return lines.join("\n");
}
