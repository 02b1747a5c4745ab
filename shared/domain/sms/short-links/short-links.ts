/** Short links in texts: how a text gets them, where they lead, and how often somebody followed them. */

export { shortLinkPlace } from './address.ts';
export { countClick, writeClicks } from './clicks.ts';
export { listOfBatch, listOfSms } from './read.ts';
export { resolve } from './resolve.ts';
export { type ShortenedLink, shorten } from './shorten.ts';
export { store } from './store.ts';
export { writtenIn } from './written-urls.ts';
