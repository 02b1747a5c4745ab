import * as unsubscribe from '../../shared/domain/email/tracking/unsubscribe.ts';
import { plainPage, recipientPage, sendRecipientPage } from './recipient-page.ts';
import { texts } from './recipient-texts.ts';
import { route } from './route.ts';

/**
 * The page behind List-Unsubscribe. Only POST unsubscribes, because mail scanners follow links. The one-click button of
 * a mailbox provider posts here without cookies or context, and is answered without a redirect (RFC 8058 §3.2).
 */
export const unsubscribePage = route<{ token: string }>('/u/:token', {
  get: async (request, response) => {
    const found = await unsubscribe.find(request.params.token);
    if (found) sendRecipientPage(request, response, 200, askPage(found));
    else sendRecipientPage(request, response, 404, plainPage(unknown));
  },
  post: async (request, response) => {
    // The posted body says nothing that the address does not.
    request.resume();
    const done = await unsubscribe.optOut(request.params.token);
    if (done) sendRecipientPage(request, response, 200, donePage(done));
    else sendRecipientPage(request, response, 404, plainPage(unknown));
  },
});

const { ask, done, unknown } = texts.unsubscribe;

const askPage = ({ workspaceName, sender, recipient }: unsubscribe.OptOut) =>
  recipientPage({
    title: ask.title,
    workspace: workspaceName,
    main: `<p>${ask.question(workspaceName, sender, recipient)}</p>
<form method="post"><button>${ask.button}</button></form>
<p>${ask.note}</p>`,
  });

const donePage = ({ workspaceName, sender, recipient }: unsubscribe.OptOut) =>
  recipientPage({
    title: done.title,
    workspace: workspaceName,
    main: `<p>${done.text(workspaceName, sender, recipient)}</p>`,
  });
