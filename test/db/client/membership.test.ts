import { expect, test } from 'vitest';
import { findWritable, requirePrimary, type ServerView } from '../../../shared/db/client/membership.ts';

type Members = NonNullable<ServerView['members']>;

/** Builds the view that `own` has of its group: for each member the name, the state, and the role if it has one. */
const view = (own: string, seen: string, isReadOnly = false): ServerView => ({
  name: own,
  isReadOnly,
  members: seen.split(', ').map((line): Members[number] => {
    const [id = '', state = '', role = 'SECONDARY'] = line.split(' ');
    return { id, state, role, isOwn: id === own ? 1 : 0 };
  }),
});
const alone = (name: string, isReadOnly = false): ServerView => ({ name, isReadOnly, members: null });
const readOnly = true;

const quiet = 'a ONLINE PRIMARY, b ONLINE, c ONLINE';
const withoutA = 'b ONLINE PRIMARY, c ONLINE';
const cutOff = 'a UNREACHABLE PRIMARY, b UNREACHABLE, c ONLINE';

test.each<[string, (ServerView | null)[], number]>([
  [
    'of servers without a group the first that takes writes',
    [alone('a', readOnly), alone('b'), alone('c')],
    1,
  ],
  ['none where all are read-only or silent', [alone('a', readOnly), null], -1],
  ['the primary', [view('c', quiet, readOnly), view('b', quiet, readOnly), view('a', quiet)], 2],
  [
    'the primary of those that went on without the one that stood still',
    [view('a', quiet), view('b', withoutA), view('c', withoutA, readOnly)],
    1,
  ],
  [
    'not a member that takes writes outside of its group',
    [view('a', 'a OFFLINE '), view('b', withoutA), view('c', withoutA, readOnly)],
    1,
  ],
  ['none where the only one that takes writes is outside of its group', [view('a', 'a OFFLINE '), null], -1],
  [
    'not the one that members know that are cut off',
    [
      view('a', 'a ONLINE PRIMARY, b ONLINE, c UNREACHABLE'),
      view('b', withoutA),
      view('c', withoutA, readOnly),
    ],
    1,
  ],
  [
    'the primary also where a member that is cut off knows another one',
    [
      view('c', cutOff, readOnly),
      view('b', 'b ONLINE PRIMARY, d ONLINE'),
      view('d', 'b ONLINE PRIMARY, d ONLINE'),
    ],
    1,
  ],
  [
    'the first of a group in which each is a primary',
    [view('b', 'a ONLINE PRIMARY, b ONLINE PRIMARY'), view('a', 'a ONLINE PRIMARY, b ONLINE PRIMARY')],
    0,
  ],
  ['the primary that is the only one to answer', [null, view('a', quiet), null], 1],
])('the one to write to: %s', (_name, views, expected) => {
  expect(findWritable(views)).toBe(expected);
});

test.each([
  ['a secondary', view('b', quiet, readOnly), 'ONLINE SECONDARY'],
  ['one that has not begun to join', view('a', ' OFFLINE '), 'OFFLINE'],
  ['one that catches up', view('c', withoutA.replace('c ONLINE', 'c RECOVERING')), 'RECOVERING'],
])('%s is not used', (_name, one, reason) => {
  expect(() => requirePrimary(one)).toThrow(reason);
});
test.each([
  ['the primary', view('a', quiet)],
  ['a server without a group', alone('a')],
])('%s is used', (_name, one) => {
  expect(() => requirePrimary(one)).not.toThrow();
});
