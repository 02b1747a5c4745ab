import type { Group } from './group.ts';

/** What somebody hostile may look for, so that looking takes long. */
export const abuseByLooking: readonly Group[] = [
  {
    title: 'Searches, listings and counts',
    rows: {
      A61: {
        tried:
          'Searches in a book made for it: words that all share, that never meet, that the index cuts; many at once',
        expected:
          'each page has a limit of rows and time, and is short where it comes to that; all pages together are complete; ' +
          'a few at a time, then 429; none goes on without its caller',
      },
      A62: {
        tried: 'Hundreds of dynamic lists that find many contacts, listed over and over',
        expected: 'the listing reads no contacts; a job counts, workspace by workspace, and the age is shown',
      },
      A63: {
        tried: 'Filters of which each finds a million rows, and all of them together hardly any',
        expected: 'windows of the rarest: each page has a limit, and is short where it comes to that',
      },
    },
  },
];
