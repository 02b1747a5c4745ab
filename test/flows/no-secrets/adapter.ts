import { randomUUID } from 'node:crypto';
import { signRequest } from '../../support/api/sign-request.ts';
import { type Answer, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { call } from './call.ts';

const name = 'adapter';

/** Plays a gateway by HTTP: it takes a text, refuses one, fails at one, and then says that the signature is wrong. */
export async function startAdapter(secret: string) {
  const problem = { type: 'invalid_number', title: 'No such number' };
  const answers: Answer[] = [
    { body: JSON.stringify({ reference: 'r1' }) },
    { status: 422, body: JSON.stringify(problem) },
    { status: 500 },
  ];
  const receiver = await startWebhookReceiver({ respond: (_, index) => answers[index] ?? { status: 401 } });

  /** Posts to the platform, signed with the secret or with another one; returns the status of the answer. */
  async function post(to: string, body: object, key = secret): Promise<number> {
    const url = `${to}/gateways/${name}/${'reference' in body ? 'receipts' : 'messages'}`;
    const text = JSON.stringify({ id: randomUUID(), ...body });
    const signer = { keyId: name, algorithm: 'hmac_sha256', secret: key } as const;
    return (await call(url, 'POST', null, text, signRequest({ method: 'POST', url, body: text }, signer)))
      .status;
  }

  return {
    settings: { name, type: 'http', url: `${receiver.url}/send`, secret },
    hasPosts: (count: number) => receiver.waitFor(count),
    /** Posts a receipt for the text that it took, a text from the number, both wrongly signed, and a malformed receipt. */
    postTo: async (to: string, number: string, content: string): Promise<number[]> => {
      const at = '2026-11-24T10:00:00Z';
      const receipt = { reference: 'r1', part: null, status: 'delivered', errorCode: null, at };
      const text = { sender: number, recipient: number, content, receivedAt: at };
      return [
        await post(to, receipt),
        await post(to, text),
        await post(to, receipt, `${secret}x`),
        await post(to, text, `${secret}x`),
        await post(to, { ...receipt, status: number }),
      ];
    },
  };
}
