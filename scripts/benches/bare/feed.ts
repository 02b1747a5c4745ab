import type { AddressInfo } from 'node:net';
import express from 'express';
import type mysql from 'mysql2/promise';
import { serve } from '../serve.ts';
import { openDatabase } from './connections.ts';

/** SELECT by a range of the key, and JSON. */
const database = openDatabase();
const app = express();
app.disable('x-powered-by').disable('etag');
// oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 hands a rejection on
app.get('/v2/events', async (request, response) => {
  const [rows] = await database.execute<mysql.RowDataPacket[]>(
    'SELECT id, type, occurred_at, data FROM bare_feed WHERE id > ? ORDER BY id LIMIT 1000',
    [Number(request.query['cursor'])],
  );
  const data = rows.map((row) => ({
    id: row['id'],
    type: row['type'],
    occurredAt: row['occurred_at'],
    data: JSON.parse(row['data']),
  }));
  response.json({ data, nextCursor: String(rows.at(-1)?.['id'] ?? request.query['cursor']) });
});

const server = app.listen(0, '127.0.0.1', () => {
  serve({ port: () => (server.address() as AddressInfo).port });
});
