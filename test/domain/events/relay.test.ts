import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { inRecordOrder } from '../../../shared/domain/events/relay.ts';

type Event = { recordId: Buffer; recordSeq: number };
const of = (record: string, recordSeq: number): Event => ({ recordId: Buffer.from(record), recordSeq });
const event = fc
  .record({ record: fc.constantFrom('a', 'b', 'c', 'd'), recordSeq: fc.integer({ min: 1, max: 20 }) })
  .map(({ record, recordSeq }) => of(record, recordSeq));
const events = fc.uniqueArray(event, {
  selector: ({ recordId, recordSeq }) => `${recordId.toString('hex')}${recordSeq}`,
});
const seqsOf = (list: Event[], record: string) =>
  list.filter(({ recordId }) => recordId.toString() === record).map(({ recordSeq }) => recordSeq);

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
      const records = (some: Event[]) => some.map(({ recordId }) => recordId.toString());
      expect(records(inRecordOrder(list))).toEqual(records(list));
    }),
  );
});

test('what is in order stays as it is, and what was given is not changed', () => {
  const list = [of('a', 2), of('b', 1), of('a', 1)];
  const ordered = inRecordOrder(list);
  expect(ordered).toEqual([of('a', 1), of('b', 1), of('a', 2)]);
  expect(inRecordOrder(ordered)).toEqual(ordered);
  expect(list[0]).toEqual(of('a', 2));
  expect(inRecordOrder([])).toEqual([]);
});
