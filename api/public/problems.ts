import { catalogue, type ErrorCode } from '../../shared/common/errors.ts';
import { problemAddress } from '../middleware/problems.ts';
import { escaped, page } from './page.ts';
import { route } from './route.ts';

/** The pages that `type` leads to: each explains a problem code and its remedy. */
export const problemPages = [
  route('/problems', {
    get: (_request, response) => {
      response.type('html').send(indexPage());
    },
  }),
  route<{ code: string }>('/problems/:code', {
    get: (request, response) => {
      const { code } = request.params;
      if (isCode(code)) response.type('html').send(codePage(code));
      else response.status(404).type('html').send(unknownPage);
    },
  }),
];

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(catalogue, code);
}

function indexPage(): string {
  const codes = Object.entries(catalogue).toSorted(([, one], [, other]) => one.status - other.status);
  const rows = codes.map(
    ([code, { status, title }]) =>
      `<tr><td>${status}</td><td><a href="/problems/${code}"><code>${code}</code></a></td><td>${escaped(title)}</td></tr>`,
  );
  return page({
    title: 'Problems',
    main: `<h1>Problems</h1>
<p>Every refusal is an <code>application/problem+json</code> document (RFC 9457). Its <code>type</code> ends in one of these codes,
which never change.</p>
<table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table>`,
  });
}

function codePage(code: ErrorCode): string {
  const { status, title, help } = catalogue[code];
  const example = { type: problemAddress(code), title, status, detail: help, requestId: '…' };
  return page({
    title: code,
    main: `<p class="kicker">HTTP ${status} · <code>${code}</code></p>
<h1>${escaped(title)}</h1>
<p>${marked(help)}</p>
<h2>As it is sent</h2>
<pre tabindex="0"><code>${escaped(JSON.stringify(example, null, 2))}</code></pre>
<p><a href="/problems">All problems</a></p>`,
  });
}

/** The help texts mark names with backticks. */
function marked(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

const unknownPage = page({
  title: 'No such problem',
  main: `<p class="kicker">HTTP 404</p>
<h1>There is no problem with this code</h1>
<p><a href="/problems">All problems</a></p>`,
});
