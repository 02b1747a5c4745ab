import { expect, test } from 'vitest';
import * as relay from '../../shared/domain/events/relay.ts';
import { attempt } from '../../shared/domain/webhooks/deliveries/deliveries.ts';
import { acceptEmail } from '../support/data/accepted-email.ts';
import { deliveriesOf, makeWebhook } from '../support/data/deliveries.ts';
import { workspace } from '../support/data/factory.ts';
import { useDatabase } from '../support/database/database.ts';
import { freePort } from '../support/processes/free-port.ts';
import { shiftClock } from '../support/time/shift-clock.ts';
import { inLanguages, serve } from './run-program.ts';

// The receivers use the true time. The clock of the platform is some minutes behind here, so its signatures are
// already old when they arrive.
useDatabase();

const minuteMs = 60_000;

test.each(inLanguages({ node: 'receiver.mjs', python: 'receiver.py' }))(
  'the receiver in $language accepts a signature of 4 minutes ago, and not one of 6',
  async (program) => {
    await shiftClock(-60 * minuteMs);
    const own = await workspace();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/hooks`;
    const { id, secret } = await makeWebhook(own, url);
    await serve(program, { WEBHOOK_URL: url, WEBHOOK_SECRETS: secret!, PORT: String(port) });
    const expected = {
      4: { responseStatus: 200 },
      6: { responseStatus: 401, responseBody: 'The signature has expired.' },
    };
    for (const minutes of [6, 4] as const) {
      await shiftClock(-minutes * minuteMs);
      await acceptEmail(own);
      await relay.relayAll();
      const { id: deliveryId } = (await deliveriesOf(id)).at(-1)!;
      await attempt(deliveryId);
      expect((await deliveriesOf(id)).at(-1)).toMatchObject(expected[minutes]);
    }
  },
);
