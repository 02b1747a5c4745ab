import { readFileSync } from 'node:fs';
import { endpoints } from '../../api/routes/index.ts';
import { makeReturnPath } from '../../shared/domain/email/mail-reports/return-path.ts';
import { clientOf } from '../support/api/api-client.ts';
import { callOn } from '../support/api/operations.ts';
import { workspace } from '../support/data/factory.ts';
import { bodies } from '../support/data/records.ts';
import { cpuSlowdown } from '../support/processes/cpu-time.ts';
import type { ReceivedMessage, SmtpSink } from '../support/servers/smtp-sink.ts';
import { findsOf } from './corpus.ts';
import type { Find } from './inputs.ts';
import { errorsIn, faultsOfProcesses, type Platform } from './platform.ts';
import { goodBodies, httpInput, smtpInput } from './requests.ts';
import { returnPathDomain, targetOfHttp, targetOfSmtp } from './settings.ts';
import { longestStallMs } from './targets/target.ts';
import {
  exchange,
  exchangeMail,
  faultOfAnswer,
  faultOfReplies,
  filled,
  isToRepeat,
  replyCodeOf,
  statusOf,
} from './wire.ts';

type Task = { seed: number; inputs: number; until: number; only: string | undefined };
/** `made`: with names in braces for what only the run knows. */
type Input = { target: string; index: number; made: Buffer };
export type Session = {
  /** With the input as it was made, so that a later run can fill in its own names. */
  finds: (Find & { bytes: Buffer })[];
  /** Made by this run, and found by earlier ones. */
  inputs: number;
  replayed: number;
  /** Status or reply code -> how many. */
  answers: Record<string, number>;
  /** Stalls that did not come again when each input of their batch was sent alone. */
  unrepeated: number[];
};

const batchSize = 40;
const atOnce = 4;
/** Of so many inputs one is a session with the mail server. */
const everyMail = 5;

/** Sends what strangers may send to the processes that they reach, and watches these. */
export async function fuzzPlatform(platform: Platform, sink: SmtpSink, task: Task): Promise<Session> {
  const { web, inbound } = platform;
  const session: Session = { finds: [], inputs: 0, replayed: 0, answers: {}, unrepeated: [] };
  const { values, good } = await makeRecords(web.process.url);
  const port = Number(new URL(web.process.url).port);

  function inputAt(number: number): Input {
    const isMail = task.only === targetOfSmtp || (task.only === undefined && number % everyMail === 0);
    const target = isMail ? targetOfSmtp : targetOfHttp;
    const made = isMail ? smtpInput(task.seed, number) : httpInput(task.seed, number, good);
    return { target, index: number, made };
  }

  async function send({ target, made }: Input): Promise<string | null> {
    const isMail = target === targetOfSmtp;
    const bytes = filled(made, values);
    const answer = isMail ? await exchangeMail(inbound.process.port, bytes) : await exchange(port, bytes);
    const code = isMail ? replyCodeOf(answer) : statusOf(answer);
    const name = `${target} ${code ?? 'none'}`;
    session.answers[name] = (session.answers[name] ?? 0) + 1;
    return isMail ? faultOfReplies(answer) : faultOfAnswer(answer);
  }

  const note = ({ target, index, made }: Input, fault: string) =>
    session.finds.push({ target, index, bytes: made, fault });

  const held = async () => {
    const all = platform.subjects.map(async ({ name, heldMs }) => ({ name, ms: await heldMs() }));
    const long = (await Promise.all(all)).filter(({ ms }) => ms > longestStallMs);
    // A busy machine makes the same work take more CPU time.
    return long.length > 0 ? long.filter(({ ms }) => ms > longestStallMs * cpuSlowdown()) : long;
  };

  /** Each input of a batch that stalled something is sent alone, twice: what it does again is its doing. */
  async function findStall(batch: readonly Input[], ms: number): Promise<void> {
    let isFound = false;
    for (const input of batch) {
      const again: string[] = [];
      for (let times = 0; times < 2; times += 1) {
        await send(input);
        for (const { name, ms: once } of await held()) again.push(`${name} for ${once.toFixed(0)} ms`);
      }
      if (again.length < 2) continue;
      isFound = true;
      note(input, `the event loop was held: ${again.join(', ')}`);
    }
    if (!isFound) session.unrepeated.push(Math.round(ms));
  }

  let errors = 0;
  /** Returns whether the platform can take more. */
  async function sendBatch(batch: readonly Input[]): Promise<boolean> {
    const waiting = [...batch];
    const again: Input[] = [];
    const sendAll = async () => {
      for (let input = waiting.shift(); input; input = waiting.shift()) {
        const fault = await send(input);
        if (fault !== null && isToRepeat(fault)) again.push(input);
        else if (fault !== null) note(input, fault);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, sendAll));
    // Several requests are under way at the same time, and one may be told to come again: alone it must not be.
    for (const input of again) {
      const fault = await send(input);
      if (fault !== null) note(input, fault);
    }
    const [stall] = await held();
    if (stall) await findStall(batch, stall.ms);
    const last = batch.at(-1)!;
    const blame = (fault: string) => note(last, `in the ${batch.length} inputs up to this: ${fault}`);
    const dead = faultsOfProcesses(platform);
    for (const fault of dead) blame(fault);
    const written = platform.subjects.flatMap(({ process }) => errorsIn(process.output()));
    for (const line of written.slice(errors)) blame(`it logged ${line}`);
    errors = written.length;
    for (const message of sink.messages.splice(0)) for (const fault of faultsOfMessage(message)) blame(fault);
    return dead.length === 0;
  }

  const replayed = foundBefore(task.only);
  session.replayed = replayed.length;
  if (replayed.length > 0 && !(await sendBatch(replayed))) return session;
  for (let number = 0; number < task.inputs && Date.now() < task.until; number += batchSize) {
    const size = Math.min(batchSize, task.inputs - number);
    session.inputs += size;
    if (!(await sendBatch(Array.from({ length: size }, (_, index) => inputAt(number + index))))) break;
  }
  return session;
}

/** Inputs that earlier runs have found. They count down from -1. */
function foundBefore(only: string | undefined): Input[] {
  return [targetOfHttp, targetOfSmtp]
    .filter((target) => only === undefined || only === target)
    .flatMap((target) => findsOf(target).map((file) => ({ target, made: readFileSync(file) })))
    .map((find, place) => ({ ...find, index: -1 - place }));
}

/** A customer may have us write anything, and it is still a message (RFC 5322 §2.1.1). */
function faultsOfMessage({ raw }: ReceivedMessage): string[] {
  const text = raw.toString('latin1');
  return [
    ...(/[^\r]\n|\r[^\n]/.test(text) ? ['a message has lines that do not end in CRLF'] : []),
    ...(text.split('\r\n').some(({ length }) => length > 998)
      ? ['a message has a line of over 998 characters']
      : []),
  ];
}

/** A workspace with a record of each kind, and what the inputs have names for. */
async function makeRecords(url: string) {
  const own = await workspace();
  const api = clientOf(url);
  const values = new Map([['key', own.key]]);
  for (const endpoint of endpoints) {
    const { params } = await callOn(api, own, endpoint);
    for (const [name, value] of Object.entries(params)) values.set(`${endpoint.id}.${name}`, value);
  }
  const made: Record<string, object> = {};
  for (const [id, make] of Object.entries(bodies)) {
    const text = JSON.stringify(await make(own)).replaceAll(own.sender, '{sender}');
    made[id] = JSON.parse(text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '{soon}'));
  }
  values.set('sender', own.sender);
  values.set('soon', new Date(Date.now() + 3_600_000).toISOString());
  const email =
    values.get('getEmail.id') ?? [...values.values()].find((value) => value.startsWith('email_'))!;
  values.set('token', makeReturnPath(email, returnPathDomain).replace(/^bounce\+|@.*/g, ''));
  return { values, good: goodBodies(made) };
}
