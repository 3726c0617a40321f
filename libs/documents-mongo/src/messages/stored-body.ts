/** The documents of the collection `bodies`: one for each heavy body, named by its record and its insert. */
import { limits, type Message, type MessageId } from "@posthaste/domain";
import { type Index } from "../indexes.ts";

export type StoredBody = {
  readonly _id: string;
  readonly record: MessageId;
  readonly body: Uint8Array;
  readonly lookAt: number;
};

export const bodiesName = "bodies";
export const bodyIndexes: readonly Index[] = [
  { collection: bodiesName, key: { lookAt: 1 }, is: "needed" },
];

/** Reports whether the body is heavy. A smaller body travels with its hint and is mostly not read again. */
export const isStoredApart = ({ body, bodyOf }: Pick<Message, "body" | "bodyOf">): boolean =>
  bodyOf === undefined && body.length > limits.namedBodyBytesMax;

type Inserted = { readonly _id: MessageId; readonly insertedBy: string };

export const nameOfBody = ({ _id, insertedBy }: Inserted): string => `${_id}/${insertedBy}`;
