import fs from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import type { FileResult } from './report.ts';

/**
 * Writes the result of each file to TEST_REPORT, with the time of its hooks, which Vitest's own report does not have.
 */
export default class TestReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const file = process.env['TEST_REPORT'];
    if (file) fs.writeFileSync(file, JSON.stringify(modules.map(resultOf)));
  }
}

function resultOf(module: TestModule): FileResult {
  const all = [...module.children.allTests()].map((test) => ({ name: test.fullName, result: test.result() }));
  const tests = all.map(({ result }) => result.state);
  const { collectDuration, duration } = module.diagnostic();
  return {
    name: module.relativeModuleId,
    isFailed: !module.ok(),
    passed: tests.filter((state) => state === 'passed').length,
    failed: tests.filter((state) => state === 'failed').length,
    notRun: all.flatMap(({ name, result }) =>
      result.state === 'skipped' && result.note !== undefined ? [{ name, reason: result.note }] : [],
    ),
    seconds: (collectDuration + duration) / 1000,
  };
}
