/** Bodies go in as they are and come back as the driver's Buffers, which may share memory with a whole reply: copied here. */
export const bytes = (stored: Uint8Array): Uint8Array => new Uint8Array(stored);
