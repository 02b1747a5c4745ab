import { escaped } from './page.ts';

/**
 * All that the recipients of messages read on our pages. A translation of these pages is a translation of this file, with its
 * language in `language`.
 */
export const texts = {
  language: 'en',
  servedBy: (product: string) => words`Served by ${product}`,
  unsubscribe: {
    ask: {
      title: 'Unsubscribe',
      question: (workspace: string, sender: string, recipient: string) =>
        words`Stop marketing email of ${workspace} (from ${sender}) to ${recipient}?`,
      button: 'Unsubscribe',
      note: 'You still get messages that you asked for, such as receipts and one-time codes.',
    },
    done: {
      title: 'You are unsubscribed',
      text: (workspace: string, sender: string, recipient: string) =>
        words`${workspace} (${sender}) sends no more marketing email to ${recipient}. You can close this page.`,
    },
    unknown: {
      title: 'This link is not known',
      text: 'The link is not complete, or the email that it came with is no longer stored. Use the link of a newer email.',
    },
  },
  confirm: {
    open: {
      title: 'Receive test emails?',
      question: (workspace: string, email: string) =>
        words`${workspace} would like to send test emails to ${email}.`,
      button: 'Yes, confirm this address',
      note: 'If you do not want this, close this page. Nothing is sent to you.',
    },
    done: {
      title: 'The address is confirmed',
      text: (workspace: string, email: string) =>
        words`${workspace} can send test emails to ${email}. You can close this page.`,
    },
    expired: {
      title: 'This link has expired',
      text: 'Ask the sender of the test emails to add your address again. You then get a new link.',
    },
    unknown: {
      title: 'This link is not valid',
      text: 'The link is not complete, or the address was removed. Copy the whole link from the email and try again.',
    },
  },
  shortLink: {
    unknown: {
      title: 'This link is not known',
      text: 'The link is not complete, or the message that it came with is no longer stored.',
    },
    blocked: {
      title: 'This link has been switched off',
      text: 'The sender of the message may no longer send through this service.',
    },
  },
  fault: {
    title: 'This did not work',
    reference: 'Reference',
    unavailable: 'Nothing was changed. Please try again in a minute.',
    tooMany: 'Too many unknown links were opened from your network. Please try again in a minute.',
    refused: 'The link is not complete, or it was opened in an unusual way. Open it again from the message.',
  },
} as const;

/** HTML of a sentence with names in it, which stand out. */
function words(parts: TemplateStringsArray, ...names: string[]): string {
  return String.raw({ raw: parts }, ...names.map((name) => `<strong>${escaped(name)}</strong>`));
}
