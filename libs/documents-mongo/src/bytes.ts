/** Copies a body out of the driver's Buffer, which may share memory with a whole reply. */
export const bytes = (stored: Uint8Array): Uint8Array => new Uint8Array(stored);
