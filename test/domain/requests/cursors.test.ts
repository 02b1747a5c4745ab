import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CursorBinding, decodeCursor, encodeCursor } from '../../../shared/domain/requests/cursors.ts';

const binding: CursorBinding = { workspaceId: 'workspace_1', listing: 'emails', filter: { status: 'sent' } };
const refusal = expect.objectContaining({ code: 'validation_failed' });

function isRefused(by: CursorBinding, cursor: string): void {
  expect(() => decodeCursor(by, cursor)).toThrow(refusal);
}

test('what was put in comes out, in a form that a URL takes as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const place = { value };
      const cursor = encodeCursor(binding, place);
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(JSON.stringify(decodeCursor(binding, cursor))).toBe(JSON.stringify(place));
    }),
  );
});

test('a cursor is good only for its workspace, listing and filter', () => {
  const cursor = encodeCursor(binding, { id: 1 });
  const others: CursorBinding[] = [
    { ...binding, workspaceId: 'workspace_2' },
    { ...binding, listing: 'events' },
    { ...binding, filter: { status: 'queued' } },
    { ...binding, filter: {} },
    { workspaceId: binding.workspaceId, listing: binding.listing },
    // Text must not be able to move from one part of the binding to the next.
    { workspaceId: 'workspace_1 emails', listing: '', filter: binding.filter! },
    { workspaceId: 'workspace_', listing: '1 emails', filter: binding.filter! },
  ];
  for (const other of others) isRefused(other, cursor);
  expect(decodeCursor(binding, cursor)).toEqual({ id: 1 });
});

test('a cursor of which anything was changed is refused', () => {
  const cursor = encodeCursor(binding, { id: 'email_1', at: 5 });
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  fc.assert(
    fc.property(fc.nat(cursor.length - 1), fc.nat(63), (at, letter) => {
      fc.pre(cursor[at] !== alphabet[letter]);
      isRefused(binding, cursor.slice(0, at) + alphabet[letter] + cursor.slice(at + 1));
    }),
  );
});

test('what is no cursor at all is refused, not an error of ours', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => isRefused(binding, text)));
  for (const text of ['', '=', 'AAAA', 'A'.repeat(22), 'A'.repeat(5000)]) isRefused(binding, text);
});
