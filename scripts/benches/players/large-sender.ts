import { Agent, request } from 'undici';
import { attachmentOf, plainEmail, recipientOf } from '../content.ts';
import { serve } from '../serve.ts';

/** Sends emails with an attachment each, all at once. */
export interface LargeEmails {
  port: number;
  key: string;
  count: number;
  attachmentBytes: number;
}

async function send({ port, key, count, attachmentBytes }: LargeEmails): Promise<void> {
  const agent = new Agent({ connections: count, headersTimeout: 0, bodyTimeout: 0 });
  const content = attachmentOf(attachmentBytes).toString('base64');
  const bodies = Array.from({ length: count }, (_, index) =>
    Buffer.from(
      JSON.stringify({
        ...plainEmail(index),
        attachments: [{ filename: 'photo.jpg', contentType: 'image/jpeg', content }],
      }),
    ),
  );
  await Promise.all(
    bodies.map(async (body, index) => {
      const answer = await request(`http://127.0.0.1:${port}/v2/email`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body,
        dispatcher: agent,
      });
      const outcome = await answer.body.text();
      if (answer.statusCode !== 201) throw new Error(`Email to ${recipientOf(index)}: ${outcome}`);
    }),
  );
  await agent.close();
}

serve({ send });
