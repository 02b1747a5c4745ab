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
/** `made` has names in braces for values that only the run knows. */
type Input = { target: string; index: number; made: Buffer };
export type Session = {
  /** Each find has its input with the names in braces, so that a later run can fill in its own values. */
  finds: (Find & { bytes: Buffer })[];
  /** `inputs` counts those made by this run, `replayed` those found by earlier runs. */
  inputs: number;
  replayed: number;
  /** Status or reply code -> how many. */
  answers: Record<string, number>;
  /** Lengths in ms of stalls that did not come again when each input of their batch was sent alone. */
  unrepeated: number[];
};

const batchSize = 40;
const atOnce = 4;
/** One of this many inputs is a session with the mail server. */
const everyMail = 5;

/** Sends inputs to the processes that strangers can reach, and watches the processes. */
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

  /** Sends each input of a stalled batch alone, twice. An input that stalls a process again is the cause. */
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
  /** Sends a batch, and returns whether the platform can take more. */
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
    // A request may get a 503 with Retry-After while others run at the same time, but not when it is sent alone.
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

/** Returns the inputs that earlier runs have found. Their indexes count down from -1. */
function foundBefore(only: string | undefined): Input[] {
  return [targetOfHttp, targetOfSmtp]
    .filter((target) => only === undefined || only === target)
    .flatMap((target) => findsOf(target).map((file) => ({ target, made: readFileSync(file) })))
    .map((find, place) => ({ ...find, index: -1 - place }));
}

/** Checks that a message has valid lines, whatever text a customer has sent (RFC 5322 §2.1.1). */
function faultsOfMessage({ raw }: ReceivedMessage): string[] {
  const text = raw.toString('latin1');
  return [
    ...(/[^\r]\n|\r[^\n]/.test(text) ? ['a message has lines that do not end in CRLF'] : []),
    ...(text.split('\r\n').some(({ length }) => length > 998)
      ? ['a message has a line of over 998 characters']
      : []),
  ];
}

/** Makes a workspace with a record of each kind, and returns the values for the names in braces. */
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
