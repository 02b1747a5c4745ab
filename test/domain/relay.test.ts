import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { inRecordOrder } from '../../shared/domain/relay.ts';

const event = fc.record({ recordKey: fc.constantFrom('a', 'b', 'c', 'd'), recordSeq: fc.nat(20) });
const events = fc.uniqueArray(event, { selector: ({ recordKey, recordSeq }) => `${recordKey}${recordSeq}` });
const seqsOf = (list: { recordKey: string; recordSeq: number }[], key: string) =>
  list.filter(({ recordKey }) => recordKey === key).map(({ recordSeq }) => recordSeq);

test('the events of each record come in its own order, none is lost, none is doubled', () => {
  fc.assert(
    fc.property(events, (list) => {
      const ordered = inRecordOrder(list);
      for (const key of ['a', 'b', 'c', 'd'])
        expect(seqsOf(ordered, key)).toEqual(seqsOf(list, key).toSorted((a, b) => a - b));
    }),
  );
});

test('no record moves to the place of another', () => {
  fc.assert(
    fc.property(events, (list) => {
      const keys = (of: typeof list) => of.map(({ recordKey }) => recordKey);
      expect(keys(inRecordOrder(list))).toEqual(keys(list));
    }),
  );
});

test('what is in order stays as it is, and what was given is not changed', () => {
  const list = [
    { recordKey: 'a', recordSeq: 2 },
    { recordKey: 'b', recordSeq: 1 },
    { recordKey: 'a', recordSeq: 1 },
  ];
  const ordered = inRecordOrder(list);
  expect(ordered).toEqual([
    { recordKey: 'a', recordSeq: 1 },
    { recordKey: 'b', recordSeq: 1 },
    { recordKey: 'a', recordSeq: 2 },
  ]);
  expect(inRecordOrder(ordered)).toEqual(ordered);
  expect(list[0]).toEqual({ recordKey: 'a', recordSeq: 2 });
  expect(inRecordOrder([])).toEqual([]);
});
