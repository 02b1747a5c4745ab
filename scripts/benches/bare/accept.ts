import type { AddressInfo } from 'node:net';
import { Queue } from 'bullmq';
import express from 'express';
import type { EmailRequest } from '../content.ts';
import { serve } from '../serve.ts';
import { openDatabase, openRedis, prefix } from './connections.ts';
import { risingId } from './ids.ts';
import { rendered } from './render.ts';

/** Express, one prepared transaction of three inserts, one add(). */
const database = openDatabase();
const queue = new Queue('accepted', { connection: openRedis(), prefix, skipVersionCheck: true });
const workspaceId = risingId();

async function store(
  id: Buffer,
  email: EmailRequest,
  { html, text }: EmailRequest['content'],
): Promise<object> {
  const at = new Date();
  const answer = {
    id: id.toString('hex'),
    sender: email.sender,
    recipient: email.recipient,
    subject: email.subject,
    status: 'queued',
    createdAt: at.toISOString(),
  };
  const connection = await database.getConnection();
  try {
    await connection.query('START TRANSACTION');
    await connection.execute(
      `INSERT INTO bare_emails (id, workspace_id, status, sender, recipient, subject, created_at, due_at)
       VALUES (?, ?, 'queued', ?, ?, ?, ?, ?)`,
      [id, workspaceId, email.sender, email.recipient, email.subject, at, at],
    );
    await connection.execute('INSERT INTO bare_email_bodies (email_id, html, text) VALUES (?, ?, ?)', [
      id,
      html,
      text,
    ]);
    await connection.execute(
      `INSERT INTO bare_events (id, workspace_id, type, record_id, occurred_at, data)
       VALUES (?, ?, 'email.queued', ?, ?, ?)`,
      [risingId(), workspaceId, id, at, JSON.stringify(answer)],
    );
    await connection.query('COMMIT');
  } catch (error) {
    await connection.query('ROLLBACK');
    throw error;
  } finally {
    connection.release();
  }
  return answer;
}

const app = express();
app.disable('x-powered-by').disable('etag');
// oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 hands a rejection on
app.post('/v2/email', express.json({ limit: '1mb' }), async (request, response) => {
  const email = request.body as EmailRequest;
  const id = risingId();
  const answer = await store(id, email, rendered(email, ['html']));
  await queue.add('send', { id: id.toString('hex') }, { removeOnComplete: true });
  response.status(201).json(answer);
});

const server = app.listen(0, '127.0.0.1', () => {
  serve({ port: () => (server.address() as AddressInfo).port });
});
