import type { Group } from './group.ts';

/** Attacks by searches, listings and counts that take long. */
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
      A68: {
        tried: 'Reports of a stretch that ends before it begins, of many years, in a zone that is none',
        expected: '400 by the name of the parameter',
      },
      A69: {
        tried: 'Reports by the hour of a long time, at the ends of time',
        expected: '400; nothing fails at a date that a zone moves out of the years there are',
      },
      A70: {
        tried: 'Tags that a spreadsheet takes for formulas, in CSV',
        expected: 'an apostrophe before them, and no other cell begins like a formula',
      },
      A71: {
        tried: 'A tag of its own for each message',
        expected: 'the first thousand of a day have rows of their own; the others count together',
      },
      A72: {
        tried: 'Many reports at once',
        expected: 'a few of a workspace at a time, each for so long; then 429',
      },
    },
  },
];
