/** A step of `createReturns` comes this often. */
export const returnStepMs = 500;
/** The first steps bring this many texts, before it is known how many the gateway takes. */
const firstStep = 10;
/** A step brings half as many texts again as the gateway took since the step before, so that the number grows. */
const returnsPerTaken = 1.5;
/**
 * Texts that were brought take a moment to come. Up to as many as the gateway takes in so many steps may be on their way,
 * so that texts for other gateways do not come behind more.
 */
const mostSteps = 4;
/** Texts that were brought and have not come after so many steps were cancelled, or went to another process. */
const patientSteps = 10;

/** How the domain brings texts back to a gateway. */
export type Returns = {
  /**
   * Ends a step, and returns how many texts should be brought forward now. 0 while the gateway takes none, or has all
   * that it can take.
   */
  step: () => number;
  /** Notes how many texts were brought. */
  brought: (count: number) => void;
  /** Notes that no text waits for the gateway. It may until then, also because of a process that has ended since. */
  noneLeft: () => void;
  /** Changes whenever the gateway stops to take texts. A search for texts that wait must then begin again. */
  outage: () => number;
};

/**
 * Decides how many of the texts that were put off come back before their time once a gateway takes texts again: few at
 * first, and then a little more than it takes. Texts that are put off anew show that it has enough. `mostPerStep`: what
 * the rate of the gateway allows.
 */
export function createReturns(mostPerStep: number) {
  let outages = 0;
  let mayBeLeft = true;
  let takes = false;
  /** Texts tried since the last step: taken, put off, or with another outcome. */
  let tries = { taken: 0, putOff: 0, other: 0 };
  /** Texts that were brought and that this process has not tried yet. */
  let onTheWay = 0;
  let stepsWithoutTries = 0;

  function step(): number {
    const { taken, putOff, other } = tries;
    const tried = taken + putOff + other;
    tries = { taken: 0, putOff: 0, other: 0 };
    stepsWithoutTries = tried > 0 ? 0 : stepsWithoutTries + 1;
    onTheWay = stepsWithoutTries < patientSteps ? Math.max(0, onTheWay - tried) : 0;
    if (!takes || !mayBeLeft || putOff > 0) return 0;
    const wanted = Math.min(mostPerStep, Math.max(firstStep, returnsPerTaken * taken));
    const most = Math.max(2 * firstStep, mostSteps * taken);
    return Math.max(0, Math.min(Math.ceil(wanted), Math.floor(most) - onTheWay));
  }

  return {
    step,
    brought: (count: number) => {
      onTheWay += count;
    },
    noneLeft: () => {
      mayBeLeft = false;
    },
    outage: () => outages,
    /** Notes that the gateway takes no texts at all now. */
    stop: () => {
      if (takes) outages += 1;
      takes = false;
      mayBeLeft = true;
      onTheWay = 0;
    },
    /** Notes the end of a try; returns whether the gateway takes texts again, by this text. */
    tried: (end: keyof typeof tries): boolean => {
      tries[end] += 1;
      const isBack = end === 'taken' && !takes;
      if (end === 'taken') takes = true;
      return isBack;
    },
  };
}
