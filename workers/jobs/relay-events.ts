import * as relay from '../../shared/domain/relay.ts';
import { relayEvents } from '../../shared/jobs/relay-events.ts';
import { handle } from '../handle.ts';

export default handle(relayEvents, { concurrency: relay.wakeUpsAtOnce }, async () => {
  await relay.relaySoon();
  return 'done';
});
