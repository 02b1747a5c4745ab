/** Short links in texts: how they come into them, where they lead, and how often somebody followed them. */

export { shortLinkPlace } from './short-links/address.ts';
export { countClick, writeClicks } from './short-links/clicks.ts';
export { listOfBatch, listOfSms } from './short-links/read.ts';
export { resolve } from './short-links/resolve.ts';
export { type ShortenedLink, shorten } from './short-links/shorten.ts';
export { store } from './short-links/store.ts';
export { writtenIn } from './short-links/written-urls.ts';
