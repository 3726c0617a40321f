export type Found = {
  readonly what: string;
  readonly title: string;
  readonly to: string;
};

const namesMax = 5;

/** Returns the results whose title contains the text, those that begin with it first. */
export function matching(all: readonly Found[], text: string): readonly Found[] {
  const wanted = text.toLowerCase();
  const placeIn = ({ title }: Found): number => title.toLowerCase().indexOf(wanted);
  return all
    .filter((each) => placeIn(each) >= 0)
    .toSorted((a, b) => Math.sign(placeIn(a)) - Math.sign(placeIn(b)))
    .slice(0, text === "" ? undefined : namesMax);
}

/** Returns the lists that a URL, or its host, filters. */
export function placesOfUrl(text: string): readonly Found[] {
  if (!/^https?:\/\/./i.test(text)) return [];
  const query = new URLSearchParams({ url: text }).toString();
  return [
    { what: "Messages", title: `to ${text}`, to: `/messages?${query}` },
    { what: "Dead letters", title: `of ${text}`, to: `/dead-letters?${query}` },
    {
      what: "Runs",
      title: `of ${text}`,
      to: `/runs?${new URLSearchParams({ workflowUrl: text }).toString()}`,
    },
  ];
}
