import { readFileSync } from 'node:fs';

const file = new URL('counts.json', import.meta.url);

/**
 * Fails a whole run of a project in which fewer tests passed than counts.json says, so that no test
 * is lost unnoticed when files move or merge. Says so when there are more, as the count is then to
 * be raised. A machine without the browser or a node passes over tests: CI_TESTS=required makes the
 * count binding.
 */
export default class CountsReporter {
  #isWhole;
  #problems = [];

  constructor({ testPathPatterns, testNamePattern, onlyChanged, shard, bail, nonFlagArgs = [] }) {
    const paths = testPathPatterns?.patterns ?? [];
    this.#isWhole = paths.length + nonFlagArgs.length === 0 && !testNamePattern && !onlyChanged && !shard && !bail;
  }

  onRunComplete(contexts, { testResults, wasInterrupted }) {
    if (!this.#isWhole || wasInterrupted) return;
    const committed = JSON.parse(readFileSync(file, 'utf8'));
    for (const { config } of contexts) {
      const name = config.displayName.name;
      const ofProject = testResults.filter(({ displayName }) => displayName?.name === name);
      const passed = ofProject.reduce((sum, { numPassingTests }) => sum + numPassingTests, 0);
      const line = `${name}: ${passed} tests passed, ${committed[name]} are counted in test/support/jest/counts.json`;
      process.stderr.write(`${line}\n`);
      if (passed < committed[name]) this.#problems.push(line);
    }
  }

  getLastError() {
    if (this.#problems.length === 0 || process.env.CI_TESTS !== 'required') return undefined;
    return new Error(`Fewer tests passed than are counted.\n${this.#problems.join('\n')}`);
  }
}
