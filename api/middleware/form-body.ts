import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import { invalid, problem } from '../../shared/common/errors.ts';
import { parseBody } from './json-body.ts';
import type { Path } from './json-scan.ts';
import type { RawBody } from './raw-body.ts';

/** A file that came with a request; it can be read again and again. */
export type Upload = () => AsyncGenerator<Uint8Array>;

/** The upload of operations that take no file. */
export async function* noUpload(): AsyncGenerator<Uint8Array> {}

const longestSettings = 1024 * 1024;
const mostParts = 20;

/** Returns the JSON of the part `settings` and the part `file`, which has to follow it. Other parts are ignored. */
export async function parseForm(
  request: IncomingMessage,
  rawBody: RawBody,
  freeForm: readonly Path[],
): Promise<{ body: unknown; upload: Upload }> {
  const type = request.headers['content-type'] ?? '';
  const settings: string[] = [];
  let files = 0;
  await walk(type, rawBody, {
    onField: (name, value, isCut) => {
      if (name !== 'settings') return;
      if (files > 0) throw invalid('settings', 'must come before file');
      if (isCut) throw problem('payload_too_large', { detail: 'settings may have at most 1 MiB.' });
      settings.push(value);
    },
    onFile: (file) => {
      files += 1;
      file.resume();
    },
  });
  if (settings.length > 1) throw invalid('settings', 'must be sent only once');
  if (files !== 1) throw invalid('file', files === 0 ? 'is missing' : 'must be sent only once');
  return { body: parseBody(Buffer.from(settings[0] ?? ''), freeForm), upload: () => readFile(type, rawBody) };
}

type Taking = {
  onField: (name: string, value: string, isCut: boolean) => void;
  onFile: (file: Readable) => void;
};

/** Reads all parts of a form. Rejects with the error that `taking` throws, or if the body is not a form. */
function walk(type: string, rawBody: RawBody, taking: Taking): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const source = Readable.from(piecesOf(rawBody));
  const fail = (error: unknown) => {
    source.destroy();
    reject(error);
  };
  const attempt =
    <Args extends unknown[]>(act: (...args: Args) => void) =>
    (...args: Args) => {
      try {
        act(...args);
      } catch (error) {
        fail(error);
      }
    };
  try {
    const parser = new Busboy({
      headers: { 'content-type': type },
      limits: { fieldSize: longestSettings, parts: mostParts },
      isPartAFile: (name) => name === 'file',
    });
    parser.on(
      'field',
      attempt((name, value, _isNameCut, isCut) => taking.onField(name, value, isCut)),
    );
    parser.on(
      'file',
      attempt((_name, file) => {
        file.on('error', fail);
        taking.onFile(file);
      }),
    );
    parser.on('partsLimit', () => fail(notForm(`has more than ${mostParts} parts`)));
    parser.on('error', () => fail(notForm('is not valid multipart/form-data')));
    parser.on('finish', resolve);
    source.on('error', fail).pipe(parser);
  } catch {
    fail(notForm('is not valid multipart/form-data'));
  }
  return promise;
}

const notForm = (message: string) => invalid('body', message);

async function* readFile(type: string, rawBody: RawBody): AsyncGenerator<Uint8Array> {
  const { promise: found, resolve } = Promise.withResolvers<Readable>();
  const walked = walk(type, rawBody, { onField: () => {}, onFile: resolve });
  // parseForm has already found the file. A reader that stops early stops this walk too, so its error is ignored.
  walked.catch(() => {});
  const file = await found;
  for await (const piece of file) yield piece as Uint8Array;
  await walked;
}

/**
 * Less than a stream of the parser holds before it asks its writer to wait. If a skipped part longer than that came in
 * one piece with the end of the form, the parser would wait for ever.
 */
const pieceBytes = 16 * 1024;

/** Yields copies: all pieces of a file are read into the same buffer, while the parser still holds earlier ones. */
async function* piecesOf(rawBody: RawBody): AsyncGenerator<Buffer> {
  if (Buffer.isBuffer(rawBody)) yield* slicesOf(rawBody);
  else for await (const piece of rawBody.read()) yield* slicesOf(Buffer.from(piece));
}

function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}
