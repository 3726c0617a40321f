/**
 * A replica set of two members for tests, of which nothing is real but the data: both are doors to one server, and say of
 * themselves what members of a set say. One is the primary, or neither; the other refuses as a secondary does. So it shows
 * what the driver and we make of elections, and nothing of what MongoDB does in one.
 */
import { freePort, type RunningMongo } from "@posthaste/local";
import { BSON, type Document, ObjectId } from "mongodb";
import { connect, createServer, type Server, type Socket } from "node:net";

export type ReplicaSet = {
  readonly uri: string;
  /** The other member is the primary from now on; `undefined`: neither is. */
  readonly elect: (member: 0 | 1 | undefined) => void;
  /** What the reply to the next command of this name becomes, which the server has carried out. */
  readonly nextReply: (command: string, change: Change) => void;
  readonly close: () => Promise<void>;
};

type Change = (reply: Document) => Document;
type Frame = { readonly requestId: number; readonly responseTo: number; readonly bytes: Buffer };

export async function openReplicaSet(to: Pick<RunningMongo, "host" | "port">): Promise<ReplicaSet> {
  const host = "127.0.0.1";
  const ports = [await freePort(), await freePort()];
  const hosts = ports.map((port) => `${host}:${port}`);
  const sockets = new Set<Socket>();
  const changes = new Map<string, Change>();
  let primary: number | undefined = 0;
  let term = 1;

  const hello = (member: number, reply: Document): Document => {
    const { topologyVersion: _, ...rest } = reply;
    const isPrimary = member === primary;
    return {
      ...rest,
      setName: "set",
      setVersion: 1,
      hosts,
      me: hosts[member],
      ismaster: isPrimary,
      isWritablePrimary: isPrimary,
      secondary: !isPrimary,
      ...(primary !== undefined && { primary: hosts[primary] }),
      ...(isPrimary && { electionId: electionOf(term) }),
    };
  };
  const servers = await Promise.all(
    ports.map(
      (port, member) =>
        new Promise<Server>((resolve) => {
          const server = createServer((client) =>
            serve(client, {
              to,
              sockets,
              hello: (reply) => hello(member, reply),
              isPrimary: () => member === primary,
              changes,
            }),
          );
          server.listen({ port, host }, () => resolve(server));
        }),
    ),
  );
  return {
    uri: `mongodb://${hosts.join()}/?replicaSet=set`,
    elect: (member) => {
      primary = member;
      term++;
    },
    nextReply: (command, change) => void changes.set(command, change),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((end) => server.close(end))));
    },
  };
}

type Door = {
  readonly to: Pick<RunningMongo, "host" | "port">;
  readonly sockets: Set<Socket>;
  readonly isPrimary: () => boolean;
  readonly hello: Change;
  readonly changes: Map<string, Change>;
};

function serve(client: Socket, { to, sockets, isPrimary, hello, changes }: Door): void {
  const upstream = connect(to);
  const awaited = new Map<number, Change>();
  tie(client, upstream, sockets);
  tie(upstream, client, sockets);
  const ask = framed((frame) => {
    const command = nameOf(frame.bytes);
    const change = changes.get(command);
    if (isHello(command)) awaited.set(frame.requestId, hello);
    else if (!isPrimary()) return void client.write(refusal(frame.requestId));
    else if (change) {
      changes.delete(command);
      awaited.set(frame.requestId, change);
    }
    upstream.write(frame.bytes);
  });
  const reply = framed((frame) => {
    const change = awaited.get(frame.responseTo);
    awaited.delete(frame.responseTo);
    if (client.writable) client.write(change ? changed(frame.bytes, change) : frame.bytes);
  });
  client.on("data", ask);
  upstream.on("data", reply);
}

function tie(socket: Socket, other: Socket, sockets: Set<Socket>): void {
  sockets.add(socket);
  // The other side hears of the end by its own.
  socket.on("error", () => undefined);
  socket.on("close", () => {
    sockets.delete(socket);
    other.destroy();
  });
}

const electionOf = (term: number): ObjectId => new ObjectId(term.toString(16).padStart(24, "0"));
const isHello = (command: string): boolean => /^(hello|ismaster)$/i.test(command);

// ---- the wire protocol: a header of four numbers, then what the operation says

const headerBytes = 16;
const query = 2_004;
const message = 2_013;

/** Each whole message of a stream. */
function framed(hear: (frame: Frame) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= headerBytes && rest.length >= rest.readInt32LE(0)) {
      const bytes = rest.subarray(0, rest.readInt32LE(0));
      rest = rest.subarray(bytes.length);
      hear({ requestId: bytes.readInt32LE(4), responseTo: bytes.readInt32LE(8), bytes });
    }
  };
}

/** Where the document begins: after flags and the kind of section; or after flags, name of the collection and two numbers. */
function documentAt(bytes: Buffer): number {
  switch (bytes.readInt32LE(12)) {
    case message:
      return headerBytes + 5;
    case query:
      return bytes.indexOf(0, headerBytes + 4) + 9;
    default:
      return headerBytes + 20;
  }
}

function documentOf(bytes: Buffer): Document {
  const at = documentAt(bytes);
  return BSON.deserialize(bytes.subarray(at, at + bytes.readInt32LE(at)), { promoteValues: false });
}

const nameOf = (bytes: Buffer): string => Object.keys(documentOf(bytes))[0] ?? "";

/** A reply has one document, at its end. */
function changed(bytes: Buffer, change: Change): Buffer {
  const head = bytes.subarray(0, documentAt(bytes));
  return sized(Buffer.concat([head, BSON.serialize(change(documentOf(bytes)))]));
}

function refusal(requestId: number): Buffer {
  const head = Buffer.alloc(headerBytes + 5);
  head.writeInt32LE(requestId, 8);
  head.writeInt32LE(message, 12);
  const document = {
    ok: 0,
    errmsg: "not primary",
    code: 10_107,
    codeName: "NotWritablePrimary",
  };
  return sized(Buffer.concat([head, BSON.serialize(document)]));
}

function sized(bytes: Buffer): Buffer {
  bytes.writeInt32LE(bytes.length, 0);
  return bytes;
}
