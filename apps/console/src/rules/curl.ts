/** Writes a call as a shell line. The token is a variable, so that it stays out of the shell's history. */

export type Called = {
  readonly method: string;
  /** The API's address, as the console reaches it. */
  readonly url: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | undefined;
};

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlOf({ method, url, headers = [], body }: Called): string {
  const lines = [
    `curl -X ${method} ${quoted(url)}`,
    `-H "Authorization: Bearer $TOKEN"`,
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined || body === "" ? [] : [`--data-binary ${quoted(body)}`]),
  ];
  return lines.join(" \\\n  ");
}
