/**
 * What became of publishes as JSON text in pieces: of the endpoints of a group, which are read again as the caller reads, no
 * more is in memory than a chunk.
 */
import { publishResultText } from "@posthaste/contract";
import { isFault } from "@posthaste/domain";
import { childrenOf, type Outcome, type PublishedGroup } from "@posthaste/engine";
import { type Groups } from "@posthaste/ports";

type Texts = AsyncGenerator<string, void, undefined>;
type Ports = { readonly groups: Groups };

/** An array with one element for each endpoint. */
export async function* groupResultTexts(ports: Ports, published: PublishedGroup): Texts {
  let before = "[";
  for await (const children of childrenOf(ports, published)) {
    yield before + children.map(publishResultText).join(",");
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}

/** Made into one text. */
const resultsPerText = 200;

/** An array with one element for each outcome. */
export async function* batchResultTexts(ports: Ports, outcomes: readonly Outcome[]): Texts {
  let text = "[";
  for (const [i, outcome] of outcomes.entries()) {
    if (i > 0) text += ",";
    if (isFault(outcome)) text += JSON.stringify({ error: outcome.text });
    else if ("messageId" in outcome) text += publishResultText(outcome);
    else {
      yield text;
      text = "";
      yield* groupResultTexts(ports, outcome);
    }
    if (i % resultsPerText < resultsPerText - 1) continue;
    yield text;
    text = "";
  }
  yield `${text}]`;
}
