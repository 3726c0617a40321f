/** Says which texts a header may have: all others are refused while sending. */

export const isHeaderName = (text: string): boolean => /^[!#$%&'*+\-.^_`|~\w]+$/.test(text);

export const isHeaderValue = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
