import * as relay from '../../shared/domain/events/relay.ts';
import { relayEvents } from '../../shared/jobs/relay-events.ts';
import { handle } from '../handle.ts';

export default handle(relayEvents, { concurrency: 1 }, async () => {
  await relay.relayAll();
  return 'done';
});
