/**
 * The memory for bodies. Owns how many bytes of the bodies of a process have arrived and are in use, and by which
 * owner. Announced bytes do not count: they cost nothing until they arrive.
 *
 * (1) Any caller may take the first half of the bytes. Of the other half, the reserve, no tenant and no address has
 *     more than its share, so that a caller that sends much, slowly, or never to the end leaves room for the rest.
 * (2) An upload keeps pace with the bytes that it holds, or is told that it is too slow. A caller that holds little
 *     may take its time: Node ends each request after a minute.
 */
import { networkOf, Places } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";

/** The tenant that is charged, and the calling address (for IPv6 its /64). */
export type BodyOwner = { readonly tenant: string; readonly address: string };

export type BodyBudget = {
  open(owner: BodyOwner, onSlow: () => void): Upload;
  /** Returns false when not even a byte fits now. */
  hasRoom(owner: BodyOwner): boolean;
  readonly taken: number;
};

type Upload = {
  /** Takes bytes. Returns false when they do not fit, or all bytes were given back already; then nothing is taken. */
  take(bytes: number): boolean;
  /** The body has arrived whole: its pace is no longer watched. */
  arrived(): void;
  /** Gives the bytes back. May be called again. */
  giveBack(): void;
};

type Bounds = {
  readonly bytesMax: number;
  /** The bound of a tenant in the reserve. Above the longest body, so that every caller can send one. */
  readonly tenantBytesMax: number;
  /** The bound of an address in the reserve. Several tenants may be behind one address. */
  readonly addressBytesMax: number;
};

const mebibyte = 1024 * 1024;
const bounds: Bounds = {
  bytesMax: 128 * mebibyte,
  tenantBytesMax: 16 * mebibyte,
  addressBytesMax: 48 * mebibyte,
};

const lookEveryMs = 5_000;
/** The part of an upload's bytes that has to arrive between two looks: for 10 MiB, 32 KiB a second. */
const partPerLook = 1 / 64;

type Watched = {
  /** The place among the watched uploads; undefined once the pace does not matter. */
  place?: number | undefined;
  bytes: number;
  reserved: number;
  before: number | undefined;
  readonly onSlow: () => void;
};

export function createBodyBudget(clock: Clock, changed: Partial<Bounds> = {}): BodyBudget {
  const { bytesMax, tenantBytesMax, addressBytesMax } = { ...bounds, ...changed };
  // Bytes of the reserve alone: a request that fits beside the reserve needs no look-up.
  const byTenant = new Map<string, number>();
  const byAddress = new Map<string, number>();
  // Not a Set, whose tables would keep bodies and their requests alive (ADR 11).
  const watched = new Places<Watched>();
  let taken = 0;
  let looks = false;

  const fitsBesideReserve = (bytes: number): boolean => taken + bytes <= bytesMax / 2;
  const fitsInReserve = ({ tenant, address }: BodyOwner, bytes: number): boolean =>
    taken + bytes <= bytesMax &&
    (byTenant.get(tenant) ?? 0) + bytes <= tenantBytesMax &&
    (byAddress.get(networkOf(address)) ?? 0) + bytes <= addressBytesMax;

  const reserve = ({ tenant, address }: BodyOwner, bytes: number): void => {
    add(byTenant, tenant, bytes);
    add(byAddress, networkOf(address), bytes);
  };

  const lookLater = (): void => {
    looks = true;
    clock.after(lookEveryMs, look);
  };

  function look(): void {
    looks = false;
    for (const upload of [...watched.values()]) {
      const { before, bytes } = upload;
      upload.before = bytes;
      // Compares with the last look; an upload that is new is not judged yet.
      if (before !== undefined && bytes - before <= bytes * partPerLook) {
        unwatch(upload);
        upload.onSlow();
      }
    }
    if (watched.size > 0) lookLater();
  }

  function unwatch(upload: Watched): void {
    if (upload.place === undefined) return;
    watched.remove(upload.place);
    upload.place = undefined;
  }

  return {
    open: (owner, onSlow) => {
      const upload: Watched = { bytes: 0, reserved: 0, before: undefined, onSlow };
      let isOver = false;
      upload.place = watched.add(upload);
      if (!looks) lookLater();
      return {
        take: (bytes) => {
          if (isOver) return false;
          if (!fitsBesideReserve(bytes)) {
            if (!fitsInReserve(owner, bytes)) return false;
            reserve(owner, bytes);
            upload.reserved += bytes;
          }
          upload.bytes += bytes;
          taken += bytes;
          return true;
        },
        arrived: () => unwatch(upload),
        giveBack: () => {
          if (isOver) return;
          isOver = true;
          unwatch(upload);
          taken -= upload.bytes;
          if (upload.reserved > 0) reserve(owner, -upload.reserved);
        },
      };
    },
    hasRoom: (owner) => fitsBesideReserve(1) || fitsInReserve(owner, 1),
    get taken() {
      return taken;
    },
  };
}

function add(counts: Map<string, number>, key: string, bytes: number): void {
  const count = (counts.get(key) ?? 0) + bytes;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
