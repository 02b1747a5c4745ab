import { now } from '../../common/clock.ts';
import { config } from '../../config/config.ts';
import { insertSimulatorMessageSoon } from '../../db/simulator/messages.ts';
import { isId } from '../../formats/ids.ts';
import type { Gateway } from './gateway.ts';

/**
 * Takes every message, and stores it where the workspace can read it as on the phone. A repeated message is stored only
 * once.
 */
export const simulator: Gateway = {
  name: 'simulator',
  submit: async ({ id, workspaceId, lane = 'default', sender, recipient, content, parts, wantsReceipt }) => {
    const createdAt = now();
    const reference = await insertSimulatorMessageSoon(workspaceId, lane, {
      ...(isId('sms', id) && { id }),
      number: recipient,
      direction: 'outbound',
      sender,
      content,
      parts,
      createdAt,
      ...(wantsReceipt && { answerDueAt: new Date(createdAt.getTime() + config.SIMULATOR_SECONDS * 1000) }),
    });
    return { kind: 'accepted', reference };
  },
};
