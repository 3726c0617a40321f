/** Requests that are made once and then renumbered: each message's number is written into its body. */

export type Template = {
  readonly bytes: Buffer;
  /** The offsets of the message numbers. A batch has many. */
  readonly offsets: readonly number[];
};

export type PublishHeaders = Readonly<Record<string, string>>;

const digits = 10;
export const bodyBytes = 600;
/** Becomes the number of the message. */
const numberPlace = "#".repeat(digits);
const bodyStart = `{"id":"`;
export const idOffset = bodyStart.length;

/** The dev profile's well-known credentials: a public constant, refused outside that profile. */
export const token = "eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0=";

/** Publishes as another tenant, by the second of those credentials. */
export const secondTenant: PublishHeaders = {
  Authorization: "Bearer eyJVc2VySUQiOiJ0ZXN0VXNlcjEiLCJQYXNzd29yZCI6InRlc3RQYXNzd29yZCJ9",
};

export function publishTemplate(
  destination: string,
  headers: PublishHeaders = {},
  bytes = bodyBytes,
): Template {
  return request(`/v2/publish/${destination}`, { ...messageHeaders, ...headers }, body(bytes));
}

export const scheduleTemplate = (destination: string, headers: PublishHeaders): Template =>
  request(`/v2/schedules/${destination}`, { ...messageHeaders, ...headers }, body(bodyBytes));

export function batchTemplate(
  destination: string,
  count: number,
  headers: PublishHeaders | ((index: number) => PublishHeaders),
  bytes = 64,
): Template {
  const item = (own: PublishHeaders) => ({
    destination,
    headers: { ...messageHeaders, ...own },
    body: body(bytes),
  });
  const items = JSON.stringify(
    Array.from({ length: count }, (_, i) =>
      item(typeof headers === "function" ? headers(i) : headers),
    ),
  );
  return request("/v2/batch", { "Content-Type": "application/json" }, items);
}

/** Copies a template. Each sender renumbers its own in place. */
export const copyOf = ({ bytes, ...places }: Template): Template => ({
  bytes: Buffer.from(bytes),
  ...places,
});

export function renumber({ bytes, offsets }: Template, first: number): void {
  let index = first;
  for (const offset of offsets) writeDigits(bytes, offset, index++);
}

export function readNumber(bytes: Buffer, offset: number): number {
  let value = 0;
  for (let at = offset; at < offset + digits; at++) value = value * 10 + (bytes[at] ?? 0) - 0x30;
  return value;
}

const messageHeaders = { "Content-Type": "application/json", "Service-Forward-X-A": "b" };

function body(length: number): string {
  const start = `${bodyStart}${numberPlace}","fill":"`;
  return `${start}${"x".repeat(length - start.length - 2)}"}`;
}

function request(path: string, headers: PublishHeaders, content: string): Template {
  const head = Object.entries({
    Host: "127.0.0.1",
    Authorization: `Bearer ${token}`,
    ...headers,
    "Content-Length": String(content.length),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const beforeContent = `POST ${path} HTTP/1.1\r\n${head.join("")}\r\n`;
  return {
    bytes: Buffer.from(beforeContent + content, "latin1"),
    offsets: placesOf(content).map((at) => beforeContent.length + at),
  };
}

function placesOf(text: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(numberPlace); at !== -1; at = text.indexOf(numberPlace, at + digits)) {
    places.push(at);
  }
  return places;
}

function writeDigits(bytes: Buffer, offset: number, index: number): void {
  let rest = index;
  for (let at = offset + digits - 1; at >= offset; at--) {
    bytes[at] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}
