import * as simulator from '../../shared/domain/simulator/simulator.ts';
import { simulatorAnswer } from '../../shared/jobs/simulator-answer.ts';
import { handle } from '../handle.ts';

export default handle(simulatorAnswer, { concurrency: 20 }, (payload) => simulator.workOn(payload));
