import { fileURLToPath, pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { createEmptyTestResult } from '@jest/test-result';
import * as circus from 'jest-circus';
import { formatExecError, formatResultsErrors } from 'jest-message-util';
import { ModuleMocker } from 'jest-mock';

/**
 * Runs a test file in Node itself, without Jest's sandbox of modules (jest.config.js,
 * `testRunner`). All files of a worker share the modules of `src`, which are loaded once a worker
 * instead of once a file. Hooks, time limits and titles are those of jest-circus. `jest.mock` and
 * fake timers do not exist here: tests replace the outside world, never modules.
 */

/** Where jest-circus looks for the time limit of the file. */
const timeLimit = Symbol.for('TEST_TIMEOUT_SYMBOL');

const processState = fileURLToPath(new URL('process-state.ts', import.meta.url));

const { describe, it, test, beforeAll, beforeEach, afterAll, afterEach } = circus;
const mocker = new ModuleMocker(globalThis);
const jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: mocker.restoreAllMocks.bind(mocker),
  setTimeout(timeoutMs) {
    globalThis[timeLimit] = timeoutMs;
  },
};

/** The object types of Jest's results for the tests of a file, from those of jest-circus. */
function assertionResults(results) {
  return results.map((result) => {
    const [, ...titles] = result.testPath;
    const statuses = { skip: 'pending', todo: 'todo' };
    return {
      ancestorTitles: titles.slice(0, -1),
      title: titles.at(-1),
      fullName: titles.join(' '),
      status: statuses[result.status] ?? (result.errors.length > 0 ? 'failed' : 'passed'),
      duration: result.duration,
      failureDetails: result.errorsDetailed,
      failureMessages: [...result.errors],
      invocations: result.invocations,
      location: result.location,
      numPassingAsserts: result.numPassingAsserts,
      retryReasons: [...result.retryReasons],
    };
  });
}

/** What Jest calls for each file: the signature of a `testRunner`. */
export default async function runFile(globalConfig, config, _environment, _runtime, testPath) {
  // Jest puts a hook here that knows the source maps of its own transformer only. Node knows those
  // of tsx.
  Error.prepareStackTrace = undefined;
  Object.assign(globalThis, {
    describe,
    it,
    test,
    beforeAll,
    beforeEach,
    afterAll,
    afterEach,
    expect: jestExpect,
    jest,
  });
  delete globalThis[timeLimit];
  // Jest may have loaded this file by `require`, which has its own instances of modules. The files
  // import.
  const { forgetProcessState } = await import(pathToFileURL(processState).href);
  forgetProcessState();
  circus.resetState();
  Object.assign(circus.getState(), {
    parentProcess: process,
    testNamePattern: globalConfig.testNamePattern ? new RegExp(globalConfig.testNamePattern, 'i') : null,
    testTimeout: globalConfig.testTimeout ?? config.testTimeout,
    maxConcurrency: globalConfig.maxConcurrency,
  });
  jestExpect.setState({ expand: globalConfig.expand, testPath, suppressedErrors: [] });
  // Errors that no test catches. A rejection may be handled after the test did something else.
  const strays = new Map();
  const listeners = {
    uncaughtException: (error) => strays.set(error, error),
    unhandledRejection: (error, promise) => strays.set(promise, error),
    rejectionHandled: (promise) => strays.delete(promise),
  };
  for (const [event, listener] of Object.entries(listeners)) process.on(event, listener);
  await import(pathToFileURL(testPath).href);
  const { testResults, unhandledErrorsDetailed } = await circus.run();
  for (const [event, listener] of Object.entries(listeners)) process.off(event, listener);
  mocker.restoreAllMocks();

  const assertions = assertionResults(testResults);
  const count = (status) => assertions.filter((assertion) => assertion.status === status).length;
  const failure = formatResultsErrors(assertions, config, globalConfig, testPath);
  const unhandled = [...unhandledErrorsDetailed, ...strays.values()];
  const outside = unhandled.map((error) => formatExecError(error, config, globalConfig));
  return {
    ...createEmptyTestResult(),
    displayName: config.displayName,
    failureMessage: unhandled.length > 0 ? [failure ?? '', ...outside].join('\n\n') : failure,
    numFailingTests: count('failed'),
    numPassingTests: count('passed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
    ...(unhandled.length > 0 ? { testExecError: { message: '', stack: outside.join('\n') } } : {}),
    testFilePath: testPath,
    testResults: assertions,
  };
}
