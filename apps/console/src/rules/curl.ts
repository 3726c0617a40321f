/** A call as a line for a shell. The token stands in a variable, so that it gets into no history. */

type Called = {
  readonly method: string;
  /** An address of the API, as the console reaches it. */
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
