/**
 * Tests that end and start processes, drive a browser or real nodes, try hostile chains and models,
 * build or pack: `npm run test:slow`. All others run with `npm test`.
 */
const slow = ['test/browser/', 'test/nets/', 'test/integration/real-chains/', 'test/integration/client/'];

/** What the projects share. Jest reads some options for each project, others once. */
const shared = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  transform: {},
  testRunner: '<rootDir>/test/support/jest/shared-modules-runner.js',
  // A bound for what hangs, not a measure: programs start slowly on a busy machine.
  testTimeout: 180_000,
};

/** Tests with a PostgreSQL server and a seeded database. */
const withServers = {
  ...shared,
  globalSetup: '<rootDir>/test/support/jest/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.ts',
};

const inFolder = (path) => `<rootDir>/${path}${path.endsWith('/') ? '**/*.test.ts' : ''}`;

export default {
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/test/unit/**/*.test.ts'] },
    {
      ...withServers,
      displayName: 'gateway',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      // Minutes of killed processes: npm run torture -- crashes.
      testPathIgnorePatterns: ['/node_modules/', '/test/unit/', '/test/fault/', ...slow.map((path) => `/${path}`)],
    },
    { ...withServers, displayName: 'slow', testMatch: slow.map(inFolder) },
  ],
  testTimeout: shared.testTimeout,
  reporters: [
    'default',
    '<rootDir>/test/support/jest/attempts-reporter.js',
    '<rootDir>/test/support/jest/counts-reporter.js',
  ],
  // Files wait for nodes and databases more than they compute.
  maxWorkers: 3,
};
