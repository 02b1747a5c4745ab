import type { AddressInfo } from 'node:net';
import express from 'express';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type mysql from 'mysql2/promise';
import type { ContactRow } from '../content.ts';
import { serve } from '../serve.ts';
import { openDatabase } from './connections.ts';
import { risingId } from './ids.ts';

/** libphonenumber's parse of each row, and one multi-row upsert. */
const database = openDatabase();
const workspaceId = risingId();
const columns = ['first_name', 'last_name', 'company', 'email', 'client_reference', 'updated_at'];
const upsert = `INSERT INTO bare_contacts
  (id, workspace_id, number, country, first_name, last_name, company, email, client_reference, created_at, updated_at)
  VALUES ? ON DUPLICATE KEY UPDATE ${columns.map((column) => `${column} = VALUES(${column})`).join(', ')}`;

function rowOf(contact: ContactRow, at: Date): unknown[] {
  const parsed = parsePhoneNumberFromString(contact.number, 'GB');
  if (!parsed?.isValid()) throw new Error(`${contact.number} is not valid`);
  const { firstName, lastName, company, email, clientReference } = contact;
  const { number, country = null } = parsed;
  return [
    risingId(),
    workspaceId,
    number,
    country,
    firstName,
    lastName,
    company,
    email,
    clientReference,
    at,
    at,
  ];
}

const app = express();
app.disable('x-powered-by').disable('etag');
// oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 hands a rejection on
app.post('/v2/contacts/batch', express.json({ limit: '8mb' }), async (request, response) => {
  const { contacts } = request.body as { contacts: ContactRow[] };
  const at = new Date();
  const [result] = await database.query<mysql.ResultSetHeader>(upsert, [
    contacts.map((contact) => rowOf(contact, at)),
  ]);
  response.json({ affected: result.affectedRows });
});

const server = app.listen(0, '127.0.0.1', () => {
  serve({ port: () => (server.address() as AddressInfo).port });
});
