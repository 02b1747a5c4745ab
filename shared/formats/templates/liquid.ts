import {
  CaptureTag,
  Context,
  type Emitter,
  Expression,
  evalTokenValue,
  filters,
  Liquid,
  LiquidError,
  type Template as Node,
  Parser,
  type RangeToken,
  Tag,
  type TagToken,
  Token,
  Tokenizer,
  TokenKind,
  type TopLevelToken,
  toValue,
  toValueSync,
} from 'liquidjs';
import { clockRegister, type FilterThis, registerFilters, removedFilters } from './liquid-filters.ts';
import {
  isTooLong,
  LimitError,
  limitMemory,
  limits,
  limitTime,
  type MemoryLimit,
  type TimeLimit,
  tooHeavy,
  tooLong,
} from './liquid-limits.ts';

/**
 * Renders customers' Liquid. Runs only inside the sandbox: the limits here stop most hostile templates with a
 * message, but nothing can interrupt a single filter, so the sandbox kills the thread.
 */

export type Template = {
  nodes: Node[];
  escape: boolean;
  /** True when its tags `increment` and `decrement` may write their counters into the data. */
  writesToData: boolean;
};
type RenderLimits = { time: TimeLimit; memory: MemoryLimit };

/** Fresh limits, in milliseconds of CPU time from now on. */
export function limitsOf(milliseconds: number = limits.milliseconds): RenderLimits {
  return { time: limitTime(milliseconds), memory: limitMemory() };
}

/** A fault of a template, in words and a place for its author: no path and no stack. */
export class TemplateError extends Error {
  override name = 'TemplateError';
  readonly outOfTime: boolean;
  readonly line: number | undefined;
  readonly column: number | undefined;
  constructor(message: string, options: { outOfTime?: boolean; line?: number; column?: number } = {}) {
    super(message);
    this.outOfTime = options.outOfTime ?? false;
    this.line = options.line;
    this.column = options.column;
  }
}

const removedTags = ['include', 'render', 'layout', 'block'];

class RemovedTag extends Tag {
  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid);
    throw new LimitError(`${token.name} is not available here`);
  }
  render() {}
}

const text = (value: unknown): string => {
  const plain = toValue(value);
  if (typeof plain === 'string') return plain;
  if (plain === undefined || plain === null) return '';
  return Array.isArray(plain) ? plain.map(text).join('') : String(plain);
};

function openOutput(): Emitter {
  const output = {
    buffer: '',
    write(value: unknown) {
      output.buffer += text(value);
      if (output.buffer.length > limits.partBytes) throw new LimitError(tooLong);
    },
  };
  return output;
}

// liquidjs counts neither the output nor captured text: 25 captures, each twice as long as the one before, made 335
// MB.
class BoundedCapture extends CaptureTag {
  override *render(context: Context): Generator<unknown, void, string> {
    const output = openOutput();
    yield this.liquid.renderer.renderTemplates(this.templates, context, output);
    context.memoryLimit.use(output.buffer.length);
    context.bottom()[this.variable] = output.buffer;
  }
}

class TimedParser extends Parser {
  readonly #time: TimeLimit;
  constructor(engine: Liquid, time: TimeLimit) {
    super(engine);
    this.#time = time;
  }
  override parseToken(token: TopLevelToken, rest: TopLevelToken[]) {
    this.#time.check(performance.now());
    return super.parseToken(token, rest);
  }
}

class BoundedRange extends Expression {
  readonly #low: Token;
  readonly #high: Token;
  constructor({ lhs, rhs }: RangeToken) {
    super([]);
    this.#low = lhs;
    this.#high = rhs;
  }
  override *evaluate(context: Context): Generator<unknown, number[], unknown> {
    const first = Math.trunc(Number(yield evalTokenValue(this.#low, context)));
    const last = Math.trunc(Number(yield evalTokenValue(this.#high, context)));
    const length = last - first + 1;
    if (!(length > 0)) return [];
    context.memoryLimit.use(length * 8);
    if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last))
      throw new LimitError('a range has a number that is too large');
    return Array.from({ length }, (_, index) => first + index);
  }
}

class PlainToken extends Token {}

// liquidjs' own ranges loop for ever where the numbers are so large that adding 1 changes nothing, and bring the
// process down. liquidjs makes tokenizers in many places and evaluates by a token's kind, so this is the only way in.
// oxlint-disable-next-line typescript/unbound-method -- called with its own `this` below
const { readGroupOrRange } = Tokenizer.prototype;
Tokenizer.prototype.readGroupOrRange = function () {
  const token = readGroupOrRange.call(this);
  if (token?.kind !== TokenKind.Range) return token;
  const { input, begin, end } = token;
  return Object.assign(new PlainToken(TokenKind.FilteredValue, input, begin, end), {
    initial: new BoundedRange(token as RangeToken),
    filters: [],
  });
};

const escapeText = filters['escape'] as (this: FilterThis, value: string) => string;

function escapeOutput(this: FilterThis, value: unknown): string {
  const plain = text(value);
  return /[&<>"']/.test(plain) ? escapeText.call(this, plain) : plain;
}

function openEngine(escape: boolean): Liquid {
  const engine = new Liquid({
    templates: Object.create(null) as Record<string, string>,
    globals: Object.create(null) as object,
    ownPropertyOnly: true,
    strictFilters: true,
    parseLimit: limits.partBytes,
    ...(escape ? { outputEscape: escapeOutput } : {}),
  });
  for (const name of removedTags) engine.registerTag(name, RemovedTag);
  engine.registerTag('capture', BoundedCapture);
  registerFilters(engine);
  return engine;
}

const escaping = openEngine(true);
const verbatim = openEngine(false);

/** Parses, or throws a TemplateError. */
export function parse(source: string, escape: boolean, { time }: RenderLimits): Template {
  return inWords(() => {
    if (isTooLong(source)) throw new LimitError(tooLong);
    if (source.split(/\{[{%]/, limits.tags + 2).length > limits.tags + 1)
      throw new LimitError(`has more than ${limits.tags} tags`);
    return {
      nodes: new TimedParser(escape ? escaping : verbatim, time).parse(source),
      escape,
      writesToData: /(?:in|de)crement/.test(source),
    };
  });
}

/** Renders, or throws a TemplateError. The same template, data and `now` always give the same text. */
export function render(
  template: Template,
  data: Record<string, unknown>,
  now: Date,
  { time, memory }: RenderLimits,
): string {
  return inWords(() => {
    const engine = template.escape ? escaping : verbatim;
    // A copy keeps the given data clean for the next part. It is made only when needed, because copying 20,000
    // members takes longer than most renders.
    const own = template.writesToData ? { ...data } : data;
    const context = new Context(own, engine.options, { sync: true }, {
      liquid: engine,
      renderLimit: time,
      memoryLimit: memory,
    } as unknown as ConstructorParameters<typeof Context>[3]);
    context.setRegister(clockRegister, now);
    const output = openOutput();
    toValueSync(engine.renderer.renderTemplates(template.nodes, context, output));
    if (isTooLong(output.buffer)) throw new LimitError(tooLong);
    // Data can bring half of a surrogate pair, and a filter can divide one: no database and no mail holds that.
    return output.buffer.toWellFormed();
  });
}

const longestMessage = 200;

function inWords<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    const cause = LiquidError.is(error) ? (error.originalError ?? error) : error;
    const message = wording(cause instanceof Error ? cause.message : String(cause));
    const place = LiquidError.is(error) ? error.token.getPosition() : [];
    const [line, column] = place;
    throw new TemplateError(
      message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message,
      {
        outOfTime: cause instanceof LimitError && cause.outOfTime,
        ...(line === undefined || column === undefined ? {} : { line, column }),
      },
    );
  }
}

const wordings: [RegExp, (match: RegExpExecArray) => string][] = [
  [
    /^undefined filter: (.*)$/s,
    ([, name = '']) =>
      removedFilters.has(name) ? `${name} is not available here` : `unknown filter: ${name}`,
  ],
  [/^tag "(.*)" not found$/s, ([, name]) => `unknown tag: ${name}`],
  [/^Maximum call stack size exceeded$/, () => 'is nested too deeply'],
  [/^(Invalid string length|Invalid array length|.*allocation failed)/, () => tooHeavy],
  [/^(.*), line:\d+, col:\d+$/s, ([, message = '']) => message],
];

function wording(message: string): string {
  for (const [pattern, words] of wordings) {
    const match = pattern.exec(message);
    if (match) return words(match);
  }
  return message;
}
