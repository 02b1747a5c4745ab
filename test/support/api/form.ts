/** A request's body as a form, as programs write it: settings as JSON, then the file. */
export type Form = { body: Buffer; headers: Record<string, string> };

type Part = { name: string; content: string | Uint8Array; filename?: string };
const boundary = 'a-boundary-that-is-in-no-part';

export function formOf(parts: readonly Part[]): Form {
  const pieces = parts.flatMap(({ name, content, filename }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${filename ? `; filename="${filename}"` : ''}\r\n\r\n`,
    content,
    '\r\n',
  ]);
  return {
    body: Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece))),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}

export function importForm(settings: object | string, csv: string | Uint8Array): Form {
  return formOf([
    { name: 'settings', content: typeof settings === 'string' ? settings : JSON.stringify(settings) },
    { name: 'file', content: csv, filename: 'people.csv' },
  ]);
}
