import { expect, test } from 'vitest';
import { readOwnGauges } from '../../shared/common/metrics.ts';
import { watchProcess } from '../../shared/common/process-gauges.ts';
import { waitFor } from '../support/time/wait-for.ts';

const labels = '{type="test",id="gauges"}';
const valueOf = (name: string) => new Map(readOwnGauges()).get(`${name}${labels}`) ?? 0;

test('what holds up the event loop for half a second is in the delay of the process', async () => {
  watchProcess('test', 'gauges');
  // A stall in the turn of the loop that starts the monitor is not measured, so there may be more than one.
  await waitFor('the delay to be told', () => {
    const until = performance.now() + 500;
    while (performance.now() < until);
    return valueOf('process_event_loop_delay_seconds') > 0.3;
  });
  expect(valueOf('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
});
