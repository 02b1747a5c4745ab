import { expect, test } from 'vitest';
import { mostBeside } from '../../shared/common/fair-shares.ts';
import { config } from '../../shared/config/config.ts';
import { createAdmission } from '../../shared/transports/sms/admission.ts';
import type { Submission } from '../../shared/transports/sms/gateway.ts';

test('all texts that one workspace hands over at once are admitted to a gateway that takes them', async () => {
  const admission = createAdmission({ name: 'fast', window: 50 });
  const answer = Promise.withResolvers<Submission>();
  const texts = Array.from({ length: mostBeside(0, config.SMS_CONCURRENCY) }, () =>
    admission.admit({ lane: 'default', workspaceId: 'w' }, () => answer.promise),
  );
  answer.resolve({ kind: 'accepted', reference: '1' });
  expect(new Set((await Promise.all(texts)).map(({ kind }) => kind))).toEqual(new Set(['accepted']));
});
