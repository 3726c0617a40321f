/**
 * The results of publishes as JSON text in pieces. The endpoints of a group are read again as the caller reads, so that no more
 * than one chunk is in memory.
 */
import { publishResultText } from "@posthaste/contract";
import { isFault } from "@posthaste/domain";
import { type PublishOutcome, type PublishedGroup } from "@posthaste/engine";
import { type Reads } from "./reads.ts";

type Texts = AsyncGenerator<string, void, undefined>;
type ChildReads = Pick<Reads, "children">;

/** Yields an array with one element for each endpoint. */
export async function* groupResultTexts(reads: ChildReads, published: PublishedGroup): Texts {
  let before = "[";
  for await (const children of reads.children(published)) {
    yield before + children.map(publishResultText).join(",");
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}

/** The number of results joined into one text. */
const resultsPerText = 200;

/** Yields an array with one element for each outcome. */
export async function* batchResultTexts(
  reads: ChildReads,
  outcomes: readonly PublishOutcome[],
): Texts {
  let text = "[";
  for (const [i, outcome] of outcomes.entries()) {
    if (i > 0) text += ",";
    if (isFault(outcome)) text += JSON.stringify({ error: outcome.text });
    else if ("messageId" in outcome) text += publishResultText(outcome);
    else {
      yield text;
      text = "";
      yield* groupResultTexts(reads, outcome);
    }
    if (i % resultsPerText < resultsPerText - 1) continue;
    yield text;
    text = "";
  }
  yield `${text}]`;
}
