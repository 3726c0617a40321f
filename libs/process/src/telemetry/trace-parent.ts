/** The W3C header `traceparent`: `00-<trace, 32 hex>-<span, 16 hex>-<flags, 2 hex>`. */
export type SpanPlace = {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
};

const form =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;
const lengthMax = 128;
const sampledFlag = 1;

/** Returns undefined for a malformed text, which counts as absent. */
export function parseTraceParent(text: string): SpanPlace | undefined {
  if (text.length > lengthMax) return undefined;
  const [, traceId, spanId, flags] = form.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) !== 0 };
}

export const traceParentOf = ({ traceId, spanId }: Pick<SpanPlace, "traceId" | "spanId">): string =>
  `00-${traceId}-${spanId}-01`;
