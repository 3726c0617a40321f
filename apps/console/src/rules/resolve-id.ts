/** Finds the thing that an id belongs to. A run's id is chosen by its caller, so the form of an id only says where to look first. */

export type Kind = "message" | "run" | "letter" | "schedule" | "bulk action";

/** Returns the page of the thing, or undefined if none has this id. */
export type Lookup = (id: string) => Promise<string | undefined>;

const order: readonly Kind[] = ["message", "run", "letter", "schedule", "bulk action"];

const likely: readonly (readonly [form: RegExp, Kind])[] = [
  [/^msg_/, "message"],
  [/^wfr_/, "run"],
  [/^(dlq_|\d{10,}-)/, "letter"],
  [/^scd_/, "schedule"],
  [/^bulk_/, "bulk action"],
];

export function placesOf(id: string): readonly Kind[] {
  const [, first] = likely.find(([form]) => form.test(id)) ?? [];
  return first === undefined ? order : [first, ...order.filter((kind) => kind !== first)];
}

export async function resolveId(
  id: string,
  look: (kind: Kind) => ReturnType<Lookup>,
): Promise<{ readonly kind: Kind; readonly to: string } | undefined> {
  for (const kind of placesOf(id)) {
    const to = await look(kind);
    if (to !== undefined) return { kind, to };
  }
  return undefined;
}
