import { expect, test } from 'vitest';
import { readMail } from '../../../shared/formats/email/mail-report.ts';
import { verdictOf } from '../../../shared/formats/email/smtp-reply.ts';

/** Reports in the form of the large services: nested parts, folded fields, answers of several lines. */
const reports: [who: string, expected: string, text: string][] = [
  [
    'Gmail',
    'failed ada@gmail.example: hard_bounce mailbox_unknown',
    `Delivered-To: bounce@example.org
Content-Type: multipart/report; boundary="0000000000001"; report-type=delivery-status
To: bounce@example.org
From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>
Subject: Delivery Status Notification (Failure)

--0000000000001
Content-Type: multipart/related; boundary="0000000000002"

--0000000000002
Content-Type: multipart/alternative; boundary="0000000000003"

--0000000000003
Content-Type: text/plain; charset="UTF-8"

** Address not found **

Your message wasn't delivered to ada@gmail.example because the address couldn't be found.

--0000000000003
Content-Type: text/html; charset="UTF-8"

<html><body><h2>Address not found</h2></body></html>

--0000000000003--
--0000000000002
Content-Type: image/png; name="icon.png"
Content-Disposition: attachment; filename="icon.png"
Content-Transfer-Encoding: base64
Content-ID: <icon.png>

iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
--0000000000002--
--0000000000001
Content-Type: message/delivery-status

Reporting-MTA: dns; googlemail.com
Arrival-Date: Sat, 21 Nov 2026 10:00:00 -0800 (PST)
X-Original-Message-ID: <email_1@example.org>

Final-Recipient: rfc822; ada@gmail.example
Action: failed
Status: 5.1.1
Remote-MTA: dns; mx.gmail.example. (192.0.2.1, the server for the domain gmail.example.)
Diagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please try
 550-5.1.1 double-checking the recipient's email address for typos or
 550-5.1.1 unnecessary spaces. For more information, go to
 550 5.1.1  https://support.example/mail/?p=NoSuchUser
Last-Attempt-Date: Sat, 21 Nov 2026 10:00:01 -0800 (PST)

--0000000000001
Content-Type: message/rfc822

Subject: A subject

A text
--0000000000001--
`,
  ],
  [
    'Exchange Online',
    'failed ada@exchange.example: hard_bounce mailbox_unknown',
    `From: <postmaster@exchange.example>
To: <bounce@example.org>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
	boundary="a6c42ced-26ba-447e-a5a4-bb6ee17d3cc7"
X-Auto-Response-Suppress: All

--a6c42ced-26ba-447e-a5a4-bb6ee17d3cc7
Content-Type: multipart/alternative; differences=Content-Type;
	boundary="81a7ab0b-57a6-4e37-9deb-f6bd94d3fb0a"

--81a7ab0b-57a6-4e37-9deb-f6bd94d3fb0a
Content-Type: text/plain; charset="us-ascii"
Content-Transfer-Encoding: quoted-printable

Your message to ada@exchange.example couldn't be delivered.=20

--81a7ab0b-57a6-4e37-9deb-f6bd94d3fb0a
Content-Type: text/html; charset="us-ascii"
Content-Transfer-Encoding: quoted-printable

<html><body style=3D"color:black">couldn't be delivered</body></html>

--81a7ab0b-57a6-4e37-9deb-f6bd94d3fb0a--

--a6c42ced-26ba-447e-a5a4-bb6ee17d3cc7
Content-Type: message/delivery-status

Reporting-MTA: dns;AM0PR01MB0001.exchange.example
Received-From-MTA: dns;relay.example
Arrival-Date: Sat, 21 Nov 2026 18:00:00 +0000

Final-Recipient: rfc822;ada@exchange.example
Action: failed
Status: 5.1.10
Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup

--a6c42ced-26ba-447e-a5a4-bb6ee17d3cc7
Content-Type: message/rfc822

Subject: A subject

--a6c42ced-26ba-447e-a5a4-bb6ee17d3cc7--
`,
  ],
  [
    'sendmail, that still tries',
    'delayed ada@example.com: soft_bounce temporarily_refused',
    `From: Mail Delivery Subsystem <MAILER-DAEMON@relay.example>
To: <bounce@example.org>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
	boundary="xALI0000001.1/relay.example"
Subject: Warning: could not send message for past 4 hours
Auto-Submitted: auto-generated (warning-timeout)

This is a MIME-encapsulated message

--xALI0000001.1/relay.example

    **********************************************
    **      THIS IS A WARNING MESSAGE ONLY      **
    **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **
    **********************************************

   ----- Transcript of session follows -----
... while talking to mx.example.com.:
>>> RCPT To:<ada@example.com>
<<< 451 4.3.0 Try later
<ada@example.com>... Deferred: 451 4.3.0 Try later

--xALI0000001.1/relay.example
Content-Type: message/delivery-status

Reporting-MTA: dns; relay.example
Arrival-Date: Sat, 21 Nov 2026 10:00:00 GMT

Final-Recipient: RFC822; ada@example.com
Action: delayed
Status: 4.3.0
Remote-MTA: DNS; mx.example.com
Diagnostic-Code: SMTP; 451 4.3.0 Try later
Last-Attempt-Date: Sat, 21 Nov 2026 14:00:00 GMT
Will-Retry-Until: Thu, 26 Nov 2026 10:00:00 GMT

--xALI0000001.1/relay.example
Content-Type: text/rfc822-headers

Return-Path: <bounce@example.org>
Subject: A subject

--xALI0000001.1/relay.example--
`,
  ],
];

test.each(reports)('a report of %s is read: %s', (_who, expected, text) => {
  const { report } = readMail(Buffer.from(text.replaceAll('\n', '\r\n')));
  if (report.kind !== 'delivery') throw new Error(`It is ${report.kind}`);
  const found = report.recipients.map(({ action, addresses, reply }) => {
    const { category, code } = verdictOf(reply);
    return `${action} ${addresses.join()}: ${category} ${code}`;
  });
  expect(found).toEqual([expected]);
});
