import { Router } from 'express';
import * as unsubscribe from '../../shared/domain/unsubscribe.ts';
import { methodNotAllowed } from '../middleware/problems.ts';
import { escaped, page } from './page.ts';

/**
 * Where List-Unsubscribe leads. Only POST stops anything: scanners follow links. A mailbox provider's one click posts
 * here without cookies or context, and is answered without a redirect (RFC 8058 §3.2).
 */
export const unsubscribePage = Router({ strict: true, caseSensitive: true });

unsubscribePage
  .route('/u/:token')
  .get(async (request, response) => {
    const found = await unsubscribe.find(request.params.token);
    response.set('Cache-Control', 'no-store').set('Referrer-Policy', 'no-referrer').type('html');
    if (found) response.send(askPage(found));
    else response.status(404).send(unknownPage);
  })
  .post(async (request, response) => {
    // What is posted says nothing that the address does not.
    request.resume();
    const done = await unsubscribe.optOut(request.params.token);
    response.set('Cache-Control', 'no-store').type('html');
    if (done) response.send(donePage(done));
    else response.status(404).send(unknownPage);
  })
  .all(methodNotAllowed('GET, HEAD, POST'));

const askPage = ({ sender, recipient }: unsubscribe.OptOut) =>
  page({
    title: 'Unsubscribe',
    main: `<h1>Unsubscribe</h1>
<p>Stop marketing email from <strong>${escaped(sender)}</strong> and its workspace to <strong>${escaped(recipient)}</strong>?</p>
<form method="post"><button type="submit">Unsubscribe</button></form>
<p>Messages about what you have asked for yourself, such as receipts and one-time codes, still come.</p>`,
  });

const donePage = ({ sender, recipient }: unsubscribe.OptOut) =>
  page({
    title: 'Unsubscribed',
    main: `<h1>You are unsubscribed</h1>
<p><strong>${escaped(sender)}</strong> and its workspace send no more marketing email to <strong>${escaped(recipient)}</strong>.</p>`,
  });

const unknownPage = page({
  title: 'Unknown link',
  main: `<p class="kicker">HTTP 404</p>
<h1>This link is not known</h1>
<p>It is not complete, or the email that it came with is no longer kept. Use the link of a newer email.</p>`,
});
