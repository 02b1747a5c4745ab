import type { Group } from './group.ts';

/** Faults that may happen to the processes, MySQL, Redis, mail and webhooks. */
export const faults: readonly Group[] = [
  {
    title: 'API',
    rows: {
      F1: {
        tried: 'kill -9 before commit',
        expected: 'no row; the retry is done once',
      },
      F2: {
        tried: 'kill -9 after commit, before the job is made',
        expected: 'the sweep sends; the retry gets the answer',
      },
      F3: {
        tried: 'kill -9 after the job is made, before the answer',
        expected: 'one mail; the retry gets the answer',
      },
      F4: {
        tried: 'SIGTERM under load',
        expected: 'what is in progress is answered, nothing new is taken',
      },
      F5: {
        tried: 'SIGSTOP while a request holds an idempotency key',
        expected: 'others get 409; one effect',
      },
      F6: {
        tried: 'The client goes away',
        expected: 'no part of a row; a committed effect can be had again',
      },
      F7: {
        tried: 'The event loop is to be blocked',
        expected: 'others are served within 250 ms',
      },
    },
  },
  {
    title: 'Workers',
    rows: {
      F8: {
        tried: 'kill -9 before the handover',
        expected: 'sent again, one copy',
      },
      F9: {
        tried: 'kill -9 between the dot and the row',
        expected: 'one copy more at most, of the same Message-ID',
      },
      F10: {
        tried: 'kill -9 again and again',
        expected: 'none lost',
      },
      F11: {
        tried: 'An email that kills every worker',
        expected: 'failed after some tries; others go on',
      },
      F12: {
        tried: 'SIGTERM',
        expected: 'finished or released, no copy',
      },
      F13: {
        tried: 'SIGSTOP beyond the lease',
        expected: 'another takes over; the late one changes nothing',
      },
      F14: {
        tried: 'None running',
        expected: 'accepted; the backlog is seen; drained in order',
      },
    },
  },
  {
    title: 'Redis',
    rows: {
      F15: {
        tried: 'Away from the start',
        expected: 'accepted; health says so',
      },
      F16: {
        tried: 'kill -9, back with its file',
        expected: 'nothing lost',
      },
      F17: {
        tried: 'Emptied',
        expected: 'all is made again; nothing before its time',
      },
      F18: {
        tried: 'Frozen',
        expected: 'requests hardly wait; nothing twice',
      },
      F19: {
        tried: 'Full',
        expected: 'accepted; recovers',
      },
      F20: {
        tried: 'Connections reset',
        expected: 'as F16',
      },
      F40: {
        tried: 'Answers and takes nothing: a replica, one node of a cluster',
        expected: 'accepted; health says why; left for the new primary',
      },
    },
  },
  {
    title: 'MySQL',
    rows: {
      F21: {
        tried: 'kill -9 under load',
        expected: '503; what was acknowledged is there',
      },
      F22: {
        tried: 'Lost during COMMIT',
        expected: '503; one effect with the retry',
      },
      F23: {
        tried: 'Slow, or no connection left',
        expected: 'bounded wait, 503, no locks left',
      },
      F24: {
        tried: 'Deadlock, lock wait',
        expected: 'tried again, then 503; nothing in part',
      },
      F25: {
        tried: 'Read-only, full',
        expected: '503, recovers',
      },
      F39: {
        tried: 'The primary is switched, and its connections stay open; a node without its quorum',
        expected: '503 at most until new connections lead to one that takes writes; all goes out once',
      },
      F26: {
        tried: 'Failover to a replica',
        expected: 'what was acknowledged may be lost unless replication is semi-synchronous',
      },
    },
  },
  {
    title: 'SMTP',
    rows: {
      F27: {
        tried: 'Refused, no name, TLS, 4xx',
        expected: 'queued with its next time',
      },
      F28: {
        tried: '5xx at RCPT and after the dot',
        expected: 'failed, suppressed by the rule, one event',
      },
      F29: {
        tried: 'Lost or hung after the dot',
        expected: 'one more sending at most, of the same Message-ID',
      },
      F30: {
        tried: 'A byte a second',
        expected: 'ended before the lease',
      },
    },
  },
  {
    title: 'Webhooks',
    rows: {
      F31: {
        tried: '500, silence, reset, 429, redirect, slow, endless',
        expected: 'the schedule; 429 not counted; the same Webhook-Id; others not delayed; switched off once',
      },
      F32: {
        tried: 'kill -9 between the 2xx and the row',
        expected: 'one delivery more, of the same Webhook-Id',
      },
    },
  },
  {
    title: 'Batches of texts',
    rows: {
      F42: {
        tried: 'kill -9 of every kind of process at random during a batch',
        expected: 'each row is one message, counts exact, each event once',
      },
      F43: {
        tried: 'FLUSHALL and a killed MySQL during a batch',
        expected: 'the same',
      },
      F47: {
        tried: 'kill -9 of web in an import: between its chunks, about its last COMMIT, and at any moment',
        expected: 'nothing half done is seen; the retry makes one batch; what is left is deleted',
      },
      F48: {
        tried: 'kill -9 of web while it writes clicks, and at any moment; FLUSHALL after it',
        expected:
          'the clicks that were in its memory are lost, no click counts twice, the batch is as before',
      },
      F50: {
        tried: 'kill -9 of the worker that deletes what a dead import has left',
        expected: 'the next one goes on; rows and their counts go together',
      },
    },
  },
  {
    title: 'Carriers of texts',
    rows: {
      F49: {
        tried: 'kill -9 of the worker that a carrier brings 100 texts a second, and receipts',
        expected: 'nothing is acknowledged before it is kept, each text is there once',
      },
    },
  },
  {
    title: 'Everywhere',
    rows: {
      F33: {
        tried: 'Clock: jumps, nodes apart',
        expected: 'MySQL’s time decides: nothing early, no lease stolen, signatures judged by it',
      },
      F34: {
        tried: 'Deploy: old and new version at once',
        expected: 'no lost reply, no copy; jobs of both are understood',
      },
      F41: {
        tried: 'Deploy: two releases at once, one is killed or frozen',
        expected: 'each migration once; the next goes on when the lease has ended',
      },
      F44: {
        tried:
          'Reports: who counts is killed at any point, messages change after days, figures are rebuilt meanwhile',
        expected: 'the figures are those of the messages; a rebuild changes nothing',
      },
      F46: {
        tried: 'kill -9 of the process that counts for the reports, again and again',
        expected: 'every figure is exact',
      },
      F45: {
        tried: 'Texts of one pair that come in and go out at once, its first ones among them',
        expected: 'each is counted once in its conversation',
      },
      F35: {
        tried: 'Disk: no room, a file is missing',
        expected: '503; never a mail without its attachment',
      },
      F36: {
        tried: 'Two sweeps and two workers',
        expected: 'no claim twice',
      },
      F37: {
        tried: 'Cancel: 1,000 races with the send',
        expected: 'one winner each',
      },
      F38: {
        tried: 'Feed: 20 writers with rollbacks',
        expected: 'none missed, none twice',
      },
    },
  },
];
