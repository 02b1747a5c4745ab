import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { config } from '../../shared/config/config.ts';
import { literalAddress } from '../../shared/formats/network-address.ts';
import { escaped, page } from './page.ts';
import { route } from './route.ts';

const { resolve } = createRequire(import.meta.url);

/**
 * Reads the program of the reference: Scalar's standalone build, which its package for Fastify carries as one string
 * in a module. The package that has it as a file brings 270 others (287 MB), of which a page needs none.
 */
async function readProgram(): Promise<{ plain: Buffer; gzipped: Buffer }> {
  const carrier = await readFile(resolve('@scalar/fastify-api-reference'), 'utf8');
  const [, literal] = /^var standalone_default = (".*");$/m.exec(carrier) ?? [];
  if (literal === undefined)
    throw new Error('@scalar/fastify-api-reference does not carry the standalone build');
  // The last line names a source map that is not here.
  const plain = Buffer.from(unescaped(literal.slice(1, -1)).replace(/\n\/\/# sourceMappingURL=.*$/, '\n'));
  return { plain, gzipped: await promisify(gzip)(plain) };
}

const escapes: Record<string, string> = { n: '\n', '"': '"', '\\': '\\' };

/**
 * Returns the text of a string literal of JavaScript. This is not JSON, because it has unescaped control characters.
 */
function unescaped(literal: string): string {
  return literal.replaceAll(/\\(.)/g, (escape, letter: string) => {
    const character = escapes[letter];
    if (character === undefined)
      throw new Error(`The standalone build has an escape that is not known: ${escape}`);
    return character;
  });
}

let program: ReturnType<typeof readProgram> | undefined;

export async function sendProgram(request: Request, response: Response): Promise<void> {
  program ??= readProgram();
  const { plain, gzipped } = await program;
  const takesGzip = request.acceptsEncodings('gzip') === 'gzip';
  if (takesGzip) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Vary', 'Accept-Encoding');
  response.setHeader('Cache-Control', 'public, max-age=3600');
  response.type('js').send(takesGzip ? gzipped : plain);
}

/** The interactive reference at /docs; nothing of it comes from another host. */
export const reference = route('/docs', {
  get: (request, response) => {
    // The program writes its styles into the page. It gets the nonce of this answer, so the policy allows only these
    // styles.
    const nonce = randomBytes(16).toString('base64');
    const policy = String(response.getHeader('Content-Security-Policy'));
    response.setHeader(
      'Content-Security-Policy',
      policy.replace("style-src 'self'", `style-src 'self' 'nonce-${nonce}'`),
    );
    response.setHeader('Cache-Control', 'no-store');
    response.type('html').send(referencePage(nonce, demoKeyFor(request)));
  },
});

/**
 * Returns the demo key only if no other machine can reach the platform, because every reader of the page gets the key.
 * The name in `Host` must be a loopback name: otherwise a website could let its own name lead to this machine and then
 * read the page (DNS rebinding). A proxy or a tunnel on this machine may send a loopback name too, for readers
 * anywhere; it is recognised by its headers, and by the settings that it needs.
 */
function demoKeyFor({ headers, socket }: Request): string | undefined {
  const names = [
    URL.parse(`http://${headers.host}`)?.hostname ?? '',
    new URL(config.PUBLIC_URL).hostname,
    config.BIND_ADDRESS,
    socket.remoteAddress ?? '',
  ];
  const isForwarded = config.TRUST_PROXY !== 0 || Object.keys(headers).some((name) => ofProxies.test(name));
  return names.every(isLoopback) && !isForwarded ? config.DEMO_API_KEY : undefined;
}

const ofProxies = /^(?:forwarded|via|x-forwarded-.*|x-real-ip|cf-.*)$/;

function isLoopback(name: string): boolean {
  return name === 'localhost' || /^(?:127\.|::1$)/.test(literalAddress(name) ?? '');
}

function referencePage(nonce: string, key: string | undefined): string {
  const offer = key
    ? `<p class="offer"><button type="button" id="use-demo-key" disabled data-key="${escaped(key)}">Use the demo key</button> <span id="demo-key-used" role="status"></span></p>\n`
    : '';
  return page({
    title: 'API reference',
    styles: 'reference.css',
    hasOwnMain: true,
    head: `<meta property="csp-nonce" content="${nonce}">
<script src="/assets/scalar.js" defer></script>
<script src="/assets/reference.js" type="module"></script>
`,
    main: `${offer}<div id="reference"></div>\n<noscript>The reference needs JavaScript; <a href="/openapi.json">openapi.json</a> does not.</noscript>`,
  });
}
