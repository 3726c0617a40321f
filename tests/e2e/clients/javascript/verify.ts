/** Verifies a delivery with the client's receiver: reads {"current", "next", "signature", "body", "url"} from standard input. */
import { Receiver } from "@upstash/qstash";
import { text } from "node:stream/consumers";

type Given = Readonly<Record<"current" | "next" | "signature" | "body" | "url", string>>;

const { current, next, signature, body, url } = JSON.parse(await text(process.stdin)) as Given;
const receiver = new Receiver({ currentSigningKey: current, nextSigningKey: next });
await receiver.verify({ signature, body, url });
