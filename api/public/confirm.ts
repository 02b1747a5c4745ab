import * as testRecipients from '../../shared/domain/email/test-recipients/test-recipients.ts';
import { plainPage, recipientPage, sendRecipientPage } from './recipient-page.ts';
import { texts } from './recipient-texts.ts';
import { route } from './route.ts';

/**
 * The page behind the confirmation link of a test recipient. Only its button confirms, because mail scanners follow
 * links.
 */
export const confirmPages = route<{ token: string }>('/confirm/:token', {
  get: async (request, response) => {
    const link = await testRecipients.readLink(request.params.token);
    sendRecipientPage(request, response, statuses[link.state], pageOf(link));
  },
  post: async (request, response) => {
    const link = await testRecipients.confirm(request.params.token);
    sendRecipientPage(request, response, statuses[link.state], pageOf(link));
  },
});

const statuses = { open: 200, done: 200, expired: 410, unknown: 404 };

function pageOf(link: testRecipients.Link): string {
  const { open, done, expired, unknown } = texts.confirm;
  switch (link.state) {
    case 'open':
      return recipientPage({
        title: open.title,
        workspace: link.workspaceName,
        main: `<p>${open.question(link.workspaceName, link.email)}</p>
<form method="post"><button>${open.button}</button></form>
<p>${open.note}</p>`,
      });
    case 'done':
      return recipientPage({
        title: done.title,
        workspace: link.workspaceName,
        main: `<p>${done.text(link.workspaceName, link.email)}</p>`,
      });
    case 'expired':
      return plainPage(expired);
    case 'unknown':
      return plainPage(unknown);
  }
}
