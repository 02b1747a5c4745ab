import { type Response, Router } from 'express';
import * as testRecipients from '../../shared/domain/email-test-recipients.ts';
import { methodNotAllowed } from '../middleware/problems.ts';
import { escaped, page } from './page.ts';

/** Where the confirmation link of a test recipient leads. Only its button confirms: scanners follow links. */
export const confirmPages = Router({ strict: true, caseSensitive: true });

confirmPages
  .route('/confirm/:token')
  .get(async (request, response) => {
    answer(response, await testRecipients.readLink(request.params.token));
  })
  .post(async (request, response) => {
    answer(response, await testRecipients.confirm(request.params.token));
  })
  .all(methodNotAllowed('GET, HEAD, POST'));

const statuses = { open: 200, done: 200, expired: 410, unknown: 404 };

function answer(response: Response, link: testRecipients.Link): void {
  response
    .status(statuses[link.state])
    // The address is a secret of whoever has it.
    .set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex' })
    .type('html')
    .send(pageOf(link));
}

function pageOf(link: testRecipients.Link): string {
  switch (link.state) {
    case 'open':
      return page({
        title: 'Confirm your address',
        main: `<h1>Receive test emails?</h1>
<p><strong>${escaped(link.workspaceName)}</strong> would like to send test emails to <strong>${escaped(link.email)}</strong>.</p>
<form method="post"><button>Yes, confirm this address</button></form>
<p>If this is not what you want, close this page: nothing is sent to you.</p>`,
      });
    case 'done':
      return page({
        title: 'Address confirmed',
        main: `<h1>The address is confirmed</h1>
<p><strong>${escaped(link.workspaceName)}</strong> can send test emails to <strong>${escaped(link.email)}</strong>. You can close this page.</p>`,
      });
    case 'expired':
      return page({
        title: 'Link expired',
        main: '<h1>This link has expired</h1>\n<p>Ask whoever wants to send you test emails to add your address again: that sends a new link.</p>',
      });
    case 'unknown':
      return page({
        title: 'Unknown link',
        main: '<h1>This link leads nowhere</h1>\n<p>It is incomplete, or the address has been removed since. Try to copy the whole link from the email.</p>',
      });
  }
}
