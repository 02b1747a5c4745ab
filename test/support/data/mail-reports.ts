type Status = {
  action?: string;
  status?: string;
  diagnostic?: string | null;
  recipient?: string;
  original?: string | null;
  explanation?: string;
  /** Headers of the message that the report is about. */
  headers?: string[];
  to?: string;
};

const boundary = '==report==';

/** A delivery status notification (RFC 3464) as Postfix writes it. */
export function statusReport({
  action = 'failed',
  status = '5.1.1',
  diagnostic = 'smtp; 550 5.1.1 No such mailbox',
  recipient = 'ada@example.com',
  original = recipient,
  explanation = 'I am sorry to have to inform you that your message could not be delivered.',
  headers = ['Subject: A subject'],
  to = 'bounce@example.org',
}: Status = {}): Buffer {
  return report('delivery-status', to, [
    ['text/plain; charset=us-ascii', [explanation]],
    [
      'message/delivery-status',
      [
        'Reporting-MTA: dns; relay.example',
        'X-Postfix-Queue-ID: 4F1D2C0A',
        '',
        `Final-Recipient: rfc822; ${recipient}`,
        ...(original === null ? [] : [`Original-Recipient: rfc822;${original}`]),
        `Action: ${action}`,
        `Status: ${status}`,
        ...(diagnostic === null ? [] : [`Diagnostic-Code: ${diagnostic}`]),
        'Remote-MTA: dns; mx.example.com',
      ],
    ],
    ['text/rfc822-headers', headers],
  ]);
}

type Complaint = { type?: string; fields?: string[]; headers?: string[]; to?: string };

/** A feedback report (RFC 5965). */
export function feedbackReport({
  type = 'abuse',
  fields = [],
  headers = ['Subject: A subject'],
  to = 'fbl@example.org',
}: Complaint = {}): Buffer {
  return report('feedback-report', to, [
    ['text/plain', ['This is an email abuse report.']],
    ['message/feedback-report', [`Feedback-Type: ${type}`, 'User-Agent: Loop/1.0', 'Version: 1', ...fields]],
    ['message/rfc822', [...headers, '', 'The text']],
  ]);
}

function report(type: string, to: string, parts: [type: string, lines: string[]][]): Buffer {
  const lines = [
    'From: MAILER-DAEMON@relay.example (Mail Delivery System)',
    `To: ${to}`,
    'Subject: A report',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=${type}; boundary="${boundary}"`,
    '',
    'This is a MIME-encapsulated message.',
    ...parts.flatMap(([contentType, content]) => [
      '',
      `--${boundary}`,
      `Content-Type: ${contentType}`,
      '',
      ...content,
    ]),
    '',
    `--${boundary}--`,
    '',
  ];
  return Buffer.from(lines.join('\r\n'));
}
