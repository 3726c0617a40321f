/** A queue of items in an order, whatever the order in which they come: a binary heap. */
export type Heap<Item> = {
  readonly push: (item: Item) => void;
  /** Returns the first item in order without removing it. */
  readonly first: () => Item | undefined;
  /** Removes the first item. */
  readonly shift: () => void;
};

export function createHeap<Item>(inOrder: (a: Item, b: Item) => number): Heap<Item> {
  const items: Item[] = [];
  /** Reports whether the item at `a` comes before the one at `b`. After the end there is none. */
  const isBefore = (a: number, b: number): boolean => {
    const [one, other] = [items[a], items[b]];
    return one !== undefined && (other === undefined || inOrder(one, other) < 0);
  };
  const swap = (a: number, b: number): void => {
    const [one, other] = [items[a], items[b]];
    if (one === undefined || other === undefined) return;
    items[a] = other;
    items[b] = one;
  };

  return {
    push: (item) => {
      items.push(item);
      // Rises past each parent that comes after it.
      for (let at = items.length - 1; at > 0;) {
        const parent = (at - 1) >> 1;
        if (!isBefore(at, parent)) return;
        swap(at, parent);
        at = parent;
      }
    },
    first: () => items[0],
    shift: () => {
      const last = items.pop();
      if (last === undefined || items.length === 0) return;
      items[0] = last;
      // Sinks past the earlier of its children, while that comes before it.
      for (let at = 0; ;) {
        const left = 2 * at + 1;
        const child = isBefore(left + 1, left) ? left + 1 : left;
        if (!isBefore(child, at)) return;
        swap(at, child);
        at = child;
      }
    },
  };
}
