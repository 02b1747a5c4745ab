import { once } from 'node:events';
import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RowDataPacket } from 'mysql2/promise';
import { frameReader } from '../../../shared/transports/sms/smpp/frames.ts';
import {
  answerTo,
  commands,
  decodePdu,
  decodeShortMessage,
  encodeBind,
  encodePdu,
  encodeShortMessage,
  firstText,
  text,
} from '../../../shared/transports/sms/smpp/pdu.ts';
import { carriedTextOf, textSender } from '../content.ts';
import { serve } from '../serve.ts';
import { openDatabase, workOn } from './connections.ts';
import { rowWriter } from './rows.ts';
import type { TextJob } from './sms-out.ts';

/**
 * A loop over the texts that are due, or a BullMQ job for each one: submit, await the answer, a batched update of the
 * result. A batched update stores the receipts, which are answered after it.
 */
export interface CarrierSettings {
  port: number;
  window: number;
  /** The process takes the jobs of this queue from now on. */
  queue?: string;
}

const pageRows = 500;
const results = 'INSERT INTO bare_texts (id, status, reference, sent_at)';
const asUpdate =
  ' ON DUPLICATE KEY UPDATE status = VALUES(status), reference = VALUES(reference), sent_at = VALUES(sent_at)';
const database = openDatabase();
const write = rowWriter((rows: unknown[][]) => database.query(`${results} VALUES ?${asUpdate}`, [rows]));
const pending = new Map<number, (body: Buffer) => void>();
const sent = new Map<string, Promise<number>>();
let socket: net.Socket;
let window = 1;
let sequence = 0;

async function start(settings: CarrierSettings): Promise<void> {
  window = settings.window;
  socket = net.connect({ host: '127.0.0.1', port: settings.port, noDelay: true });
  await once(socket, 'connect');
  const read = frameReader();
  socket.on('data', (piece) => {
    for (const frame of read(piece)) {
      const pdu = decodePdu(frame);
      if (pdu.id === commands.deliver_sm) void keepReceipt(pdu.sequence, pdu.body);
      else pending.get(pdu.sequence)?.(pdu.body);
    }
  });
  await request(
    commands.bind_transceiver,
    encodeBind({ systemId: 'bare', password: 'secret', systemType: '' }),
  );
  if (settings.queue) workOn<TextJob>(settings.queue, window, ({ data }) => submit(data.index));
}

function request(id: number, body: Buffer): Promise<Buffer> {
  sequence += 1;
  const own = sequence;
  socket.write(encodePdu({ id, status: 0, sequence: own, body }));
  return new Promise((resolve) => {
    pending.set(own, (answer) => {
      pending.delete(own);
      resolve(answer);
    });
  });
}

async function submit(index: number): Promise<void> {
  const { recipient, content } = carriedTextOf(index);
  const answer = await request(
    commands.submit_sm,
    encodeShortMessage({
      source: { ton: 5, npi: 0, address: textSender },
      destination: { ton: 1, npi: 1, address: recipient.slice(1) },
      esmClass: 0,
      validityPeriod: '',
      registeredDelivery: 1,
      dataCoding: 0,
      message: Buffer.from(content, 'latin1'),
      tlvs: new Map(),
    }),
  );
  const reference = firstText(answer);
  const written = write([index, 'sent', reference, new Date()]).then(() => index);
  sent.set(reference, written);
  await written;
}

async function keepReceipt(own: number, body: Buffer): Promise<void> {
  const reference = /^id:(\S+)/.exec(decodeShortMessage(body).message.toString('latin1'))![1]!;
  // The receipt may arrive in one piece with the answer, before we have read the answer.
  if (!sent.has(reference)) await nextTurn();
  const index = (await sent.get(reference))!;
  sent.delete(reference);
  await write([index, 'delivered', reference, new Date()]);
  socket.write(encodePdu({ id: answerTo(commands.deliver_sm), status: 0, sequence: own, body: text('') }));
}

/** Sends all texts that are due. */
async function run(): Promise<void> {
  for (let after = -1; ; ) {
    const [rows] = await database.query<RowDataPacket[]>(
      "SELECT id FROM bare_texts WHERE id > ? AND status = 'queued' ORDER BY id LIMIT ?",
      [after, pageRows],
    );
    if (rows.length === 0) return;
    after = rows.at(-1)!['id'];
    const left = rows.values();
    const submitOn = async () => {
      for (const { id } of left as Iterable<{ id: number }>) await submit(id);
    };
    await Promise.all(Array.from({ length: window }, submitOn));
  }
}

serve({ start, run });
